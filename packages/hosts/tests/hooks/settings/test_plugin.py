"""The plugin for OpenCode, in a JavaScript runtime, against the real service."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from otel_errcompact_hosts.hooks.settings.entries import Caller
from otel_errcompact_hosts.hooks.settings.plans import apply_install, plan_install
from packages.hosts.tests.hooks.sessions import RECORDED
from packages.hosts.tests.service.services import Place

NODE = shutil.which("node") or shutil.which("bun")
SESSION = Path(__file__).with_name("plugin_session.mjs")
LIMIT_MS = 300
SLACK_MS = 5_000
"""A busy machine may need that much more."""

pytestmark = [pytest.mark.programs, pytest.mark.skipif(NODE is None, reason="no JavaScript runtime is installed")]


def recorded(number: int) -> dict[str, Any]:
    path = next((RECORDED / "opencode").glob(f"{number:02}-*.json"))
    return json.loads(path.read_text(encoding="utf-8"))


def play(place: Place, *steps: list[Any], caller: Caller | None = None, limit_ms: int = 60_000) -> list[dict[str, Any]]:
    """Install the plugin, and call its functions as OpenCode does; a busy machine is given time to answer."""
    environ = place.environ
    plan = plan_install("opencode", caller or Caller(), environ)
    apply_install(plan, environ)
    module = place.folder / "plugin.mjs"
    text = plan.path.read_text(encoding="utf-8")
    assert f"LIMIT_MS = {LIMIT_MS}\n" in text
    module.write_text(text.replace(f"LIMIT_MS = {LIMIT_MS}\n", f"LIMIT_MS = {limit_ms}\n"), encoding="utf-8")
    command = [str(NODE), str(SESSION), str(module), json.dumps(steps)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def call(number: int) -> tuple[list[Any], list[Any]]:
    """The recorded failing call, under an id of its own."""
    before, after = recorded(4), recorded(5)
    before["input"]["callID"] = after["input"]["callID"] = f"call_{number}"
    return (
        ["tool.execute.before", before["input"], before["output"]],
        ["tool.execute.after", after["input"], after["output"]],
    )


def test_a_session_reads_digest_count_and_refusal(place: Place) -> None:
    """The raw output stays in what people see: the metadata."""
    place.start()
    turn = ["chat.params", {"sessionID": call(1)[0][1]["sessionID"], "agent": "build"}, {}]
    said = play(place, *call(1), turn, *call(2), turn, call(3)[0])
    assert [each["error"] for each in said[:-1] if "error" in each] == []
    outputs = [each["output"] for each in said if each["name"] == "tool.execute.after"]
    assert outputs[0]["output"].splitlines()[-1] == "#7265 (exit code 1)"
    assert "#7265 again (x2, 2 in a row;" in outputs[1]["output"]
    assert outputs[1]["metadata"]["output"].startswith("reading orders\nTraceback")
    assert said[-1]["error"].startswith("NOT EXECUTED: this exact call has failed 2 times")


def test_a_success_is_not_touched(place: Place) -> None:
    """Byte for byte what the tool has returned."""
    place.start()
    after = recorded(19)
    said = play(place, *call(1), ["tool.execute.after", after["input"], after["output"]])
    assert said[-1]["output"] == after["output"]


def test_errors_that_are_thrown_are_counted(place: Place) -> None:
    """They reach the plugin on the bus alone; a refusal of ours comes back the same way, and is none."""
    place.start()
    missing, refused = recorded(15), recorded(15)
    refused["event"]["properties"]["part"] |= {"callID": "call_3"}
    session = missing["event"]["properties"]["sessionID"]
    steps = [
        [name, {**given, "sessionID": session}, output] for name, given, output in (*call(1), *call(2), call(3)[0])
    ]
    play(place, *steps, ["event", missing], ["event", refused])
    assert place.ask("GET", f"/v1/runs/{session}")[1]["report"]["occurrences"] == 3


def test_a_sub_agent_is_a_run_of_its_parent(place: Place) -> None:
    """OpenCode gives it a session of its own, and says once whose it is."""
    place.start()
    created = {"event": {"type": "session.created", "properties": {"info": {"id": "child", "parentID": "parent"}}}}
    steps = [[name, {**given, "sessionID": "child"}, output] for name, given, output in call(1)]
    play(place, ["event", created], *steps)
    assert place.ask("GET", "/v1/runs/parent/child")[1]["report"]["occurrences"] == 1


def test_without_a_service_nothing_changes(place: Place) -> None:
    """And nothing waits: not even for the program that would start it."""
    nothing = Caller(python=str(place.folder / "gone"))
    said = play(place, *call(1), caller=nothing, limit_ms=LIMIT_MS)
    assert said[1]["output"] == call(1)[1][2]
    assert all("error" not in each and each["ms"] < SLACK_MS for each in said)


def test_the_service_starts_with_the_host(place: Place) -> None:
    """Before the first prompt: it needs seconds until it answers, and the first failure may come sooner."""
    assert play(place) == []
    place.wait_until_it_answers()


def test_a_program_that_cannot_be_started_breaks_no_session(place: Place) -> None:
    """A system may refuse it at once, before there is a process that could report an error."""
    refused = Caller(client="/opt/otel_errcompact_hosts/client/" + "x" * 200_000)
    said = play(place, *call(1), caller=refused)
    assert said[1]["output"] == call(1)[1][2]


def test_a_service_that_hangs_costs_its_limit_twice(place: Place) -> None:
    """A busy machine is late once; after the second time it is not asked again for a while."""
    with socket.socket(socket.AF_UNIX) as listener:
        place.socket.parent.mkdir(mode=0o700)
        listener.bind(str(place.socket))
        listener.listen()
        asked: list[socket.socket] = []

        def accept() -> None:
            while True:
                try:
                    asked.append(listener.accept()[0])
                except OSError:
                    return

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        gone = Caller(python=str(place.folder / "gone"))
        said = play(place, *call(1), *call(2), caller=gone, limit_ms=LIMIT_MS)
        assert len(asked) == 2
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(60)
    for each in asked:
        each.close()
    assert min(said[0]["ms"], said[1]["ms"]) >= LIMIT_MS - 5
    assert said[1]["output"] == call(1)[1][2]
