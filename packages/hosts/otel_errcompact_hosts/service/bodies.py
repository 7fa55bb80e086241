"""What requests hold and answers say, as the OpenAPI document has it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from otel_errcompact.digest import encodable


def _clean(value: object) -> object:
    # JSON can hold halves of characters, which no other encoding can.
    return encodable(value) if isinstance(value, str) else value


Text = Annotated[str, BeforeValidator(_clean)]
RunId = Annotated[str, Field(min_length=1, max_length=1_000), BeforeValidator(_clean)]


class CallBody(BaseModel):
    """A tool call."""

    model_config = ConfigDict(extra="forbid")

    run: RunId = Field(description="The session; of a sub-agent `session/agent`, which stops where its session does.")
    tool: Text = Field(description="The tool's name.")
    arguments: dict[str, Any] | Text | None = Field(
        default=None, description="The call's arguments, or the command line; without them no call is identical."
    )
    call_id: Text = Field(default="", description="The call's id, which counts once; empty if there is none.")
    turn: Text | int | None = Field(
        default=None,
        description="The id of the model's message that asked for it: what fails side by side counts as one turn.",
    )
    agent: Text = Field(default="", description="The agent's name, as metrics show it.")
    directory: Text = Field(default="", description="The call's working directory, which is part of what it is.")
    stoppable: bool = Field(
        default=True,
        description="Whether you ask before calls, or stop where the verdict says so; else no digest speaks of a stop.",
    )


class FailureBody(CallBody):
    """A call that has failed."""

    text: Text = Field(description="The whole output, or the message of the error.")
    exit_status: int | None = Field(default=None, description="The exit status of a command.")


class SuccessBody(CallBody):
    """A call that has succeeded."""

    text: Text = Field(default="", description="What it returned; it is not needed.")


class ResultBody(CallBody):
    """A call that has returned, to be judged."""

    text: Text = Field(description="The whole output.")
    exit_status: int | None = Field(default=None, description="The exit status of a command.")
    failed: bool | None = Field(
        default=None,
        description="What the host says; null where it says nothing, so that exit status and text decide.",
    )


class ResumeBody(BaseModel):
    """A human's word that lets a stopped run continue."""

    model_config = ConfigDict(extra="forbid")

    message: Text = Field(default="", description="What the agent reads with its next failure and in its digest.")


class ClassName(BaseModel):
    """An error class."""

    key: str = Field(description="The dedup key: the same for the same failure in every run.")
    short: str = Field(description="Its name in this run's digests, where `#` stands before it.")


class Counts(BaseModel):
    """How often it has failed."""

    class_: int = Field(alias="class", description="Failures of the class in the run.")
    streak: int = Field(description="Turns in which the operation failed with the class since it last succeeded.")
    run: int = Field(description="Failures of any class in the run.")


class VerdictBody(BaseModel):
    """Whether the run may continue."""

    standing: Literal["carry_on", "pending", "halt", "pause"]
    stopped: bool = Field(description="Whether no further call may be made until the run is resumed.")
    threshold: str = Field(description="The threshold that has stopped it; empty if none has.")
    reason: str = Field(description="Why, for the agent and the human; empty if it may continue.")


class CallAnswer(BaseModel):
    """What came of a call."""

    outcome: Literal["success", "failure", "ignored", "counted"] = Field(
        description="`ignored`: neither, as a call that its user has declined. `counted`: it was counted before."
    )
    digest: str = Field(description="What the agent reads in place of the raw error; empty unless it failed.")
    class_: ClassName | None = Field(alias="class", description="The error class of a failure.")
    counts: Counts | None = Field(description="How often that class has failed; null unless this call has.")
    guidance: str = Field(description="What a human has answered to an escalation, once: show it to the agent.")
    verdict: VerdictBody


class RefusalAnswer(BaseModel):
    """Whether a call may be executed."""

    refused: bool
    reason: str = Field(description="What the agent reads in place of a result; empty if the call may be executed.")


class RunSummary(BaseModel):
    """A run in short."""

    run: str
    agent: str
    failures: int
    verdict: VerdictBody


class RunList(BaseModel):
    """All runs that are remembered."""

    runs: list[RunSummary]


class RunAnswer(BaseModel):
    """A run as a whole."""

    run: str
    verdict: VerdictBody
    report: dict[str, Any] = Field(description="Its account: result, classes with their counts, escalations, tokens.")


class DigestAnswer(BaseModel):
    """The recent errors of a run."""

    digest: str = Field(description="The block for the agent's next prompt; empty without an open error.")


class RawAnswer(BaseModel):
    """A raw error."""

    raw: str = Field(description="The newest raw error of the class, whole up to a limit.")


class Health(BaseModel):
    """The service that answers."""

    version: str = Field(description="The release of otel-errcompact.")
    pid: int
    process: str = Field(description="When the process began, in the system's own words: its id may be used again.")
    started: str = Field(description="When it began to answer, as ISO 8601.")
    port: int | None = Field(description="Its port of 127.0.0.1; null if it has none.")


class Problem(BaseModel):
    """Why a request was refused."""

    error: str = Field(description="One sentence: what is wrong, where, and what to do.")
