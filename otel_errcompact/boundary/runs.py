"""One agent run: the application's way to wrap tool calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar, overload

from otel_errcompact.boundary.arguments import as_text
from otel_errcompact.boundary.blocks import Block, discard_left_blocks, find_owner
from otel_errcompact.boundary.call import Call
from otel_errcompact.boundary.functions import ToolFunction
from otel_errcompact.boundary.port import Port
from otel_errcompact.boundary.scope import RunScope

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import TracebackType
    from typing import Self

    from opentelemetry.trace import TracerProvider

    from otel_errcompact.boundary.arguments import Arguments
    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact.engine.report import RunReport
    from otel_errcompact.engine.state import Verdict
    from otel_errcompact.escalator.actions import Action, FinalText, Handler
    from otel_errcompact.escalator.exceptions import RunHalted
    from otel_errcompact.escalator.thresholds import Mode, Thresholds

P = ParamSpec("P")
R = TypeVar("R")


class Run:
    """
    One agent run (conversation, task): the scope of history, thresholds and digest.

    Use it as `with errcompact.run() as run:` or `async with errcompact.run() as run:`.

    Args:
        scope: The run's state.
    """

    def __init__(self, scope: RunScope) -> None:
        self._scope = scope
        self.port: Final = Port(scope)
        """The face for integrations of agent frameworks."""

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self._scope.run_id

    @property
    def agent(self) -> str:
        """The agent's name."""
        return self._scope.agent

    @property
    def verdict(self) -> Verdict:
        """Whether the run may continue; after its end, the last verdict."""
        return self._scope.verdict

    def begin_turn(self) -> None:
        """
        Begin a turn of the agent: call it before each model request.

        The model has then read all that the calls so far came to. Calls that are made until the next turn begins were
        asked for together, and what several of them fail with counts once. Where no turn is ever begun, a failure
        counts if its call began after the class was last shown.
        """
        self._scope.begin_turn()

    def tool(
        self,
        name: str,
        *,
        arguments: Arguments = None,
        call_id: str = "",
        target: str = "",
        directory: str = "",
        began: int = 0,
        reraise: bool = False,
        gated: bool = True,
    ) -> Call:
        """
        Wrap one tool call: `with run.tool("db.query", arguments={...}) as call:`, or `async with`.

        Args:
            name: The tool's name.
            arguments: The call's arguments; without them identical calls cannot be recognised, and so not refused.
            call_id: The id of the call.
            target: What the call is about (a file, a test, a table), where its arguments do not tell; failures of one
                target are not resolved by the success of another.
            directory: The working directory of the call, where its arguments do not tell.
            began: The tick at which the agent asked for it; that of the turn, or now, if 0.
            reraise: Let an exception pass after it was counted.
            gated: Whether the call passes the gate first. Frameworks that run calls side by side pass it before the
                model is asked, where no call is under way.

        Raises:
            RunHalted: On entry, when the run was stopped; `RunPaused` when it waits for a human.
        """
        return Call(
            self._scope,
            tool=name,
            arguments=as_text(arguments),
            call_id=call_id,
            target=target,
            directory=directory,
            began=began,
            reraise=reraise,
            gated=gated,
        )

    @overload
    def call(self, function: Callable[P, Awaitable[R]], /, *args: P.args, **kwargs: P.kwargs) -> Awaitable[R | str]: ...
    @overload
    def call(self, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R | str: ...
    def call(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """
        Call a function as a tool; return its result or the text.

        The tool has the function's name.

        A coroutine function gives an awaitable of the same. An identical call that has failed too often is refused,
        not executed.

        Raises:
            RunHalted: The run was stopped; `RunPaused` when it waits for a human.
        """
        return ToolFunction(function).execute(self.tool, args, kwargs)

    def fail(
        self,
        text: BaseException | str,
        *,
        tool: str = "",
        arguments: Arguments = None,
        call_id: str = "",
        exit_code: int | None = None,
    ) -> str:
        """
        Declare a tool's answer an error; return the text for the agent.

        Inside `with run.tool(...)` and without `tool`, the call that is open has failed; its text is known when it
        ends, and an empty string is returned. Else this is one whole call, which is over: it passes no gate, and
        nothing is raised whatever it is given. `run.check()` stops a stopped run.

        Args:
            text: The whole answer, or the exception that the tool has failed with.
            tool: The tool's name.
            arguments: The call's arguments.
            call_id: The id of the call.
            exit_code: The exit status of a command.
        """
        call = current_call()
        if not tool and call is not None and call.run_id == self.run_id:
            call.fail(text, exit_code=exit_code)
            return ""
        with self.tool(tool, arguments=arguments, call_id=call_id, gated=False) as whole:
            whole.fail(text, exit_code=exit_code)
        return whole.text

    def digest(self) -> str:
        """Return the recent errors for the agent's next prompt; empty without any."""
        ended = self._scope.ended
        return ended.digest if ended is not None else self._scope.ledger.digest(self.run_id)

    def raw(self, key: str) -> str | None:
        """Return the newest raw error of the class with this key prefix."""
        ended = self._scope.ended
        return ended.raw(key) if ended is not None else self._scope.ledger.raw(self.run_id, key)

    def forget_shown(self) -> None:
        """
        Have the next digest of each class say everything again.

        Call it when earlier messages were taken out of the context.

        A repeat only names its class, as long as the agent can look up in its context what that was.
        """
        self._scope.ledger.forget_shown(self.run_id)

    def report(self) -> RunReport:
        """Return the report so far, or the final one after the end."""
        ended = self._scope.ended
        return ended.report if ended is not None else self._scope.ledger.report(self.run_id)

    def resume(self, message: str = "") -> None:
        """Let a stopped run continue; the agent reads `message` in its digest."""
        self._scope.resume(message)

    def answer(self, reply: object) -> Action:
        """
        Answer the open escalation with a reply; return it as an action.

        Args:
            reply: `Halt`, `Continue` or `Pause`; else what comes out of a framework's own dialogue: yes or no as a
                bool, a text for the agent to continue with, or a mapping with an `action` and a `message`.

        Raises:
            ConfigurationError: `reply` is none of these.
        """
        return self._scope.answer(reply)

    def check(self) -> None:
        """
        Pass the gate; call it before each step of the agent.

        Raises:
            RunHalted: The run was stopped; `RunPaused` when it waits for a human.
        """
        if (stop := self.gate()) is not None:
            raise stop

    async def acheck(self) -> None:
        """
        Pass the gate in asynchronous code, and await an asynchronous handler.

        Raises:
            RunHalted: The run was stopped; `RunPaused` when it waits for a human.
        """
        if (stop := await self.agate()) is not None:
            raise stop

    def gate(self) -> RunHalted | None:
        """
        Pass the gate without raising, for frameworks that stop otherwise.

        Returns:
            What stops the run: `RunHalted`, or `RunPaused` if it waits for a human; None if it may continue.
        """
        return self._scope.gate()

    async def agate(self) -> RunHalted | None:
        """Pass the gate in asynchronous code without raising; see `gate`."""
        return await self._scope.agate()

    def __enter__(self) -> Self:
        discard_left_blocks()
        self._block = Block(self._scope, self)
        try:
            self._scope.open()
            self._block.enter(self._scope.start_span())
        except BaseException:  # an interrupt: the block is not entered, and so never left
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, frames: TracebackType | None
    ) -> None:
        scope = self._scope
        try:
            self._block.leave()
            with scope.at_boundary:
                if error is not None:
                    scope.observe_escaped(error)
        finally:
            scope.close(failed=error is not None and not scope.is_control_flow(error))
            scope.end_span()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, frames: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, frames)


def run(
    run_id: str = "",
    *,
    agent: str = "",
    on_escalation: Handler | None = None,
    final_text: FinalText = "",
    thresholds: Thresholds | None = None,
    mode: Mode | None = None,
    ledger: Ledger | None = None,
    tracer_provider: TracerProvider | None = None,
) -> Run:
    """
    Open one agent run: `with errcompact.run(agent="shop") as run:`, or `async with`.

    Args:
        run_id: The run's id, such as the conversation's; a random one if empty.
        agent: The agent's name.
        on_escalation: Answers an escalation with `Halt`, `Continue` or `Pause`; may be asynchronous. Without one the
            run continues, and only loops halt it.
        final_text: What the end user reads of a run that was halted, `RunHalted.final_text`: a text, or a function that
            gets the escalation. Without one it says what failed how often.
        thresholds: When this run escalates; the options' thresholds if None.
        mode: What the library may do, `observe`, `advise` or `enforce`; the options' mode if None.
        ledger: Where failures are counted; the installed one if None.
        tracer_provider: Where the spans go; the installed or the global provider if None.

    Raises:
        ConfigurationError: A setting is not what it should be.
    """
    scope = RunScope(
        run_id,
        agent=agent,
        on_escalation=on_escalation,
        final_text=final_text,
        thresholds=thresholds,
        mode=mode,
        ledger=ledger,
        tracer_provider=tracer_provider,
    )
    return Run(scope)


def current_run() -> Run | None:
    """Return the run that is open in this context."""
    owner = find_owner(of_call=False)
    return owner if isinstance(owner, Run) else None


def current_call() -> Call | None:
    """Return the innermost call that is open in this context."""
    owner = find_owner(of_call=True)
    return owner if isinstance(owner, Call) else None
