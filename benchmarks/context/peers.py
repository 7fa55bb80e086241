"""Other programs' compaction on the same lists, in an environment of their own that the first run makes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.context.stand_in import extract
from otel_errcompact.digest.tokens import read_costs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.context.measure import MakeCandidate

REQUIREMENTS: Final = (
    "langchain==1.4.7",
    "langchain-core==1.7.2",
    "openai-agents==0.24.0",
    "google-adk==2.13.0",
    "headroom-ai==0.41.0",
)
CACHE: Final = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "otel-errcompact" / "context-peers"
RUNNER: Final = Path(__file__).with_name("peer_runner.py")

PEERS: Final = {
    "LangChain SummarizationMiddleware, summary": ("langchain-summarization", True),
    "LangChain ClearToolUsesEdit": ("langchain-clearing", False),
    "OpenAI Agents ToolOutputTrimmer": ("openai-trimmer", False),
    "OpenAI compaction session, summary": ("openai-compaction", True),
    "Google ADK EventsCompaction, summary": ("adk", False),
    "headroom compress": ("headroom", False),
}
"""Each peer's name in the runner, and whether a program continues with the list that it gives back."""


class PeerError(RuntimeError):
    """A peer could not be installed, or failed on a list; the message holds its own words."""


class PeerProcess:
    """
    The child process that peers run in.

    Args:
        environment: The folder of the environment, made where it is missing.

    Raises:
        PeerError: It cannot be installed or started.
    """

    def __init__(self, environment: Path = CACHE) -> None:
        python = environment / "bin" / "python"
        try:
            _make(environment, python)
            self._child = subprocess.Popen(
                [python, "-W", "ignore", RUNNER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env={
                    **os.environ,
                    "BYTE_COSTS": read_costs(0).hex(),
                    "HEADROOM_TELEMETRY": "off",
                    "HF_HUB_OFFLINE": "1",
                },
            )
        except (OSError, subprocess.SubprocessError) as error:
            said = getattr(error, "stderr", "") or ""
            raise PeerError(f"{error}\n{said[-2_000:]}") from error
        self.versions: dict[str, str] = self.ask({})["versions"]

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """
        Send a question and return the answer; summaries that the child asks for in between come from the stand-in.

        Raises:
            PeerError: The peer has failed, or the child has ended.
        """
        self._write(question)
        while True:
            assert self._child.stdout is not None
            line = self._child.stdout.readline()
            if not line:
                raise PeerError(f"the process of the peers has ended with {self._child.wait()}")
            answer = json.loads(line)
            if "error" in answer:
                raise PeerError(answer["error"])
            if "summarise" not in answer:
                return answer
            self._write({"summary": extract(answer["summarise"], answer["limit"])})

    def _write(self, value: dict[str, Any]) -> None:
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps(value) + "\n")
            self._child.stdin.flush()
        except OSError as error:
            raise PeerError(f"the process of the peers has ended with {self._child.poll()}") from error

    def close(self) -> None:
        """End the child."""
        assert self._child.stdin is not None
        self._child.stdin.close()
        self._child.wait(30)


class Peer:
    """
    One peer with a window of its own.

    Args:
        process: Where it runs.
        name: As the runner calls it.
        window_tokens: How large a list may be.
        persists: Whether a program continues with the compacted list.
    """

    def __init__(self, process: PeerProcess, name: str, window_tokens: int, *, persists: bool) -> None:
        self.persists = persists
        self._process = process
        self._asked = {"run": "", "peer": name, "window": window_tokens, "limit": summary_limit(window_tokens)}
        self._is_new = True

    def compact(self, messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the list that is sent instead."""
        answer = self._process.ask({**self._asked, "new": self._is_new, "messages": list(messages)})
        self._is_new = False
        return answer["messages"]


def summary_limit(window_tokens: int) -> int:
    """Return what a summary may cost: as much as ours, a quarter of three fifths of three quarters of the window."""
    return max(1, min(8_000, int(window_tokens * 0.75 * 0.6 / 4)))


def make_peer(process: PeerProcess, name: str) -> MakeCandidate:
    """Return what makes a candidate of a peer."""
    runner_name, persists = PEERS[name]
    return lambda window_tokens: Peer(process, runner_name, window_tokens, persists=persists)


def _make(environment: Path, python: Path) -> None:
    """Make the environment unless it holds just these versions already."""
    made = environment / "requirements.txt"
    wanted = "\n".join(REQUIREMENTS)
    if made.is_file() and made.read_text(encoding="utf-8") == wanted:
        return
    print(f"Installing {', '.join(REQUIREMENTS)} into {environment} ...", file=sys.stderr)
    venv.create(environment, with_pip=True, clear=True)
    uv = Path(sys.executable).with_name("uv")
    # pip needs many minutes to find out which versions fit together, uv some seconds.
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    install = [uv, "pip", "install", "--quiet", "--python", python] if uv.is_file() else pip
    subprocess.run([*install, *REQUIREMENTS], capture_output=True, text=True, timeout=1_800, check=True)
    made.write_text(wanted, encoding="utf-8")
