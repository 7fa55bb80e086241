"""Whole sessions of the real programs with our hooks in them: what is read, what is refused, what is counted."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from hosts_rig.hosts import HOSTS
from hosts_rig.model import DELEGATED, StandInModel
from hosts_rig.place import ROOT
from hosts_rig.probes import FINE, ORDERS, REPORT, STOCK, delegated_probes
from hosts_rig.script import CLOSING, do
from hosts_rig.service import Service
from hosts_rig.session import Session, run
from otel_errcompact_hosts.hooks.settings.entries import TOKEN_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hosts_rig.hosts.host import Host
    from hosts_rig.place import Place
    from hosts_rig.script import Turn

MARKED = f"echo x >> ran.txt; {ORDERS}"
"""Leaves a line for each time it really runs."""

CLIENT = ROOT / "packages" / "hosts" / "otel_errcompact_hosts" / "client"
SETTINGS = (
    ".claude/settings.json",
    ".codex/hooks.json",
    ".gemini/settings.json",
    ".copilot/hooks/errcompact.json",
    ".config/opencode/plugin/errcompact.js",
)
HOST_LIMIT = re.compile(r'("timeout(?:Sec)?": )5(000)?\b')
"""After how many seconds or milliseconds a host ends a hook of ours."""

SHORT = 5_000
"""Characters; a long output has 40 kB where it is not replaced."""

AGAIN = "#7265 again (x2, 2 in a row; 2 identical calls failed and no call has succeeded since"
REFUSED = "NOT EXECUTED: this exact call has failed 2 times and no call has succeeded since"


ENDED_AFTER = {"claude-code": 6, "gemini": 6}
"""After how many requests a run ends that repeats one call; other hosts ask on. Gemini has a guard of its own."""


@pytest.fixture
def service(place: Place) -> Iterator[Service]:
    """The service of the place, which answers."""
    service = Service(place)
    service.start()
    yield service
    service.stop()


def errcompact(place: Place, *arguments: str, **variables: str) -> str:
    """What our command prints in a place."""
    command = [sys.executable, "-m", "otel_errcompact", *arguments]
    done = subprocess.run(
        command, cwd=place.work, env=place.environ | variables, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def play(host: Host, place: Place) -> Iterator[Played]:
    """Plays a script in a host with our hooks installed."""
    played = Played(host, place)
    yield played
    played.close()


class Played:
    """A host in its place, with what closes behind it."""

    def __init__(self, host: Host, place: Place) -> None:
        self._host, self._place = host, place
        self._models: list[StandInModel] = []
        self.environ: dict[str, str] = {}

    def __call__(
        self, script: Sequence[Turn], *, hooks: bool = True, mode: Sequence[str] = (), prefix: bool = True
    ) -> Session:
        """One session; `mode` is what stands behind `hooks install HOST`."""
        model = StandInModel(script, delegated_probes(self._host))
        self._models.append(model)
        self._host.prepare(self._place, model.url)
        if hooks:
            errcompact(self._place, "hooks", "install", self._host.name, "--yes", *mode)
            be_patient(self._place)
            if not prefix:
                drop_prefix(self._place)
        session = run(self._host, self._place, model, environ=self.environ)
        assert model.requests, session.output + session.errors
        return session

    def close(self) -> None:
        """Close its models."""
        for model in self._models:
            model.close()


def be_patient(place: Place) -> None:
    """
    Let the installed hooks wait for an answer for as long as it takes.

    What they read is what is tested here; that they give up in time is tested where nothing else runs.
    """
    # As an installation has it: entries are known by this path.
    patient = place.base / "otel_errcompact_hosts" / "client"
    if not patient.exists():
        shutil.copytree(CLIENT, patient)
        client = patient / "hook.py"
        client.write_text(swap(client.read_text(encoding="utf-8"), "LIMIT_S = 0.3", "LIMIT_S = 60"), encoding="utf-8")
    for path in SETTINGS:
        file = place.home / path
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        if str(CLIENT) in text:
            text = swap(text, "LIMIT_MS = 300", "LIMIT_MS = 60_000") if file.suffix == ".js" else text
            text = HOST_LIMIT.sub(r"\g<1>120\g<2>", text)
            file.write_text(text.replace(str(CLIENT), str(patient)), encoding="utf-8")


def drop_prefix(place: Place) -> None:
    """Leave Claude Code its hooks alone."""
    file = place.home / ".claude" / "settings.json"
    if file.exists():
        settings = json.loads(file.read_text(encoding="utf-8"))
        settings.pop("env", None)
        file.write_text(json.dumps(settings), encoding="utf-8")


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def swap(text: str, old: str, new: str) -> str:
    """A text with one piece replaced that must be there."""
    assert old in text
    return text.replace(old, new)


def test_three_identical_failures_lead_to_digest_notice_and_refusal(
    host: Host, place: Place, service: Service, play: Played
) -> None:
    """The first is a digest, the second has a notice, the third is refused and does not run."""
    session = play([*(do(host.shell(MARKED)) for _ in range(3)), CLOSING])
    first, second, third = (session.model.turn(number) for number in (1, 2, 3))
    assert "KeyError: 'lines'" in first
    assert "#7265" in first
    assert AGAIN in second
    assert REFUSED in third
    assert (place.work / "ran.txt").read_text() == "x\n" * 2
    assert session.status == 0


MODES = {
    "claude-code": {
        "prefix": ["7 commands in", " and the shell prefix"],
        "commands": ["7 commands in"],
        "http": ["2 commands and 5 URLs in"],
    },
    "codex": {"commands": ["6 commands in"]},
    "gemini": {"commands": ["5 commands in"]},
    "copilot": {"commands": ["6 commands in"]},
    "opencode": {"plugin": ["the plugin itself runs in OpenCode alone"]},
}
"""The ways to install hooks, and what the doctor says that it has imitated."""


@pytest.mark.parametrize("mode", ["prefix", "commands", "http", "plugin"])
def test_each_mode_counts_and_refuses_and_the_doctor_says_what_it_saw(
    mode: str, host: Host, place: Place, service: Service, play: Played
) -> None:
    """What the real program gets is what the doctor finds."""
    if mode not in MODES[host.name]:
        pytest.skip("is not installed so")
    failing = [do(host.shell(MARKED)) for _ in range(3)]
    options: list[str] = []
    if mode == "http":
        service.stop()
        options = ["--http", str(free_port())]
        service.start("--port", options[1])
        play.environ = {TOKEN_VARIABLE: service.token}
    session = play([*failing, CLOSING], mode=options, prefix=mode != "commands")
    assert REFUSED in session.model.turn(3)
    assert (place.work / "ran.txt").read_text() == "x\n" * 2
    found = json.loads(errcompact(place, "hooks", "doctor", host.name, "--json", **play.environ))
    assert [each for each in found["findings"] if each["held"] == "no"] == []
    assert all(said in found["imitated"] for said in MODES[host.name][mode])


def test_hooks_that_are_refused_are_told_of_at_the_next_start(
    host: Host, place: Place, service: Service, play: Played
) -> None:
    """Without its token Claude Code is refused at the port; the start of a session comes by another way."""
    if "http" not in MODES[host.name]:
        pytest.skip("calls no URLs")
    service.stop()
    port = str(free_port())
    service.start("--port", port)
    session = play([do(host.shell(ORDERS)), CLOSING], mode=["--http", port])
    assert "KeyError: 'lines'" in session.model.turn(1)
    (noted,) = place.base.rglob("heard/claude-code")
    os.utime(noted, (0, 0))
    start = {"hook_event_name": "SessionStart", "session_id": "next"}
    said = service.ask("POST", "/v1/hooks/claude-code", start)["systemMessage"]
    assert "nothing was heard but its start" in said


def test_an_endless_repetition_stops_the_run_or_lets_it_do_nothing(
    host: Host, place: Place, service: Service, play: Played
) -> None:
    """After six attempts nothing runs any more, not even what would succeed; where the host can, the run ends."""
    again = [do(host.shell(MARKED)) for _ in range(6)]
    session = play([*again, do(host.shell(f"echo y > late.txt; {FINE}")), CLOSING])
    assert (place.work / "ran.txt").read_text() == "x\n" * 2
    assert not (place.work / "late.txt").exists()
    assert "ESCALATED: recorded for the operators" in session.model.turn(4)
    if host.name in ENDED_AFTER:
        assert (len(session.model.requests), session.status) == (ENDED_AFTER[host.name], 0)
    else:
        assert "NOT EXECUTED: this run is stopped" in session.model.turn(7)


def test_a_success_is_read_as_the_host_writes_it(host: Host, place: Place, service: Service, play: Played) -> None:
    """Byte for byte, but for what differs from run to run anyway."""
    # A traceback in a log, bytes that are no text, and a text that is no UTF-8.
    programs = [FINE, "python3 sync.py", "python3 bytes.py", "python3 latin.py"]
    script = [*(do(host.shell(each)) for each in programs), do(host.read(str(place.work / "stock.py"))), CLOSING]
    without, with_hooks = play(script, hooks=False), play(script)
    for number in range(1, len(script)):
        assert steady(with_hooks.model.turn(number)) == steady(without.model.turn(number))


def steady(text: str) -> str:
    """A result without the numbers that its host makes up."""
    return re.sub(r"(Chunk ID: |Wall time: |PGID: |tokens>)[0-9a-f.]+", r"\1", text)


def test_the_cause_at_the_end_of_a_long_output_is_read(
    host: Host, place: Place, service: Service, play: Played
) -> None:
    """Of 130 kB and of 5 MB the agent reads the line that says why, the status, and how to get the rest."""
    # Of two pipes a busy host reads one before the other, and cuts what then stands in the middle.
    failing = [do(host.shell(f"{each} 2>&1")) for each in (REPORT, "python3 export.py")]
    session = play([*failing, CLOSING])
    for number in (1, 2):
        read = session.model.turn(number)
        assert "column 'region' is missing in customers.csv" in read
        assert "exit code 3" in read.lower()
        assert "errcompact raw '#" in read or "whole output" in read
        assert len(read) < SHORT


def test_an_error_of_an_mcp_server_is_counted(host: Host, place: Place, service: Service, play: Played) -> None:
    """Three different orders that cannot be reserved are one class."""
    session = play([*(do(host.reserve(order)) for order in (1, 2, 3)), CLOSING])
    last = session.model.turn(3)
    assert "no such warehouse: north" in last
    if host.name == "codex":
        pytest.skip("fires no hook after an error of an MCP server")
    if host.name == "opencode":
        pytest.skip("tells its plugins of an error only when the model reads it already")
    assert "again (x3" in json.dumps(session.model.requests)


def test_a_poll_is_not_refused(host: Host, place: Place, service: Service, play: Played) -> None:
    """What waits for a server may ask as often as it likes."""
    poll = do(host.shell("echo x >> ran.txt; curl -sf http://127.0.0.1:9/"))
    play([poll, poll, poll, poll, CLOSING])
    assert (place.work / "ran.txt").read_text() == "x\n" * 4


def test_an_edit_that_fails_is_refused_the_third_time(host: Host, place: Place, service: Service, play: Played) -> None:
    """Its text is the host's own, and the file stays as it was."""
    edit = host.edit(str(place.work / "fine.py"))
    if edit is None:
        pytest.skip("edits by its shell")
    # Nothing else may succeed between them: that could have changed the file.
    before = (place.work / "fine.py").read_text()
    (place.work / "fine.py").write_text(before.replace("orders", "bills"))
    session = play([do(host.read(str(place.work / "fine.py"))), do(edit), do(edit), do(edit), CLOSING])
    if host.name == "claude-code":  # it checks an edit before its hooks see it
        assert "again (x3" in json.dumps(session.model.requests)
    else:
        assert REFUSED in session.model.turn(4)
    assert (place.work / "fine.py").read_text() == before.replace("orders", "bills")


def test_two_hosts_at_once_are_two_runs(host: Host, place: Place, service: Service, play: Played) -> None:
    """The same failure of the same call in the same folder is the first one in each."""
    other = HOSTS["codex" if host.name != "codex" else "gemini"]
    beside = Played(other, place)
    script = [do(host.shell(ORDERS)), CLOSING]
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(beside, [do(other.shell(ORDERS)), CLOSING])
        read = play(script).model.turn(1)
        read_beside = running.result().model.turn(1)
    beside.close()
    assert ("#7265" in read, "again" in read) == (True, False)
    assert ("#7265" in read_beside, "again" in read_beside) == (True, False)


def test_two_parallel_calls_fail_for_themselves(host: Host, place: Place, service: Service, play: Played) -> None:
    """Each has its own class, and both are read in the same request."""
    # Of two pipes a host reads either first, and another order of the lines is read as new details.
    both = do(host.shell(f"{ORDERS} 2>&1"), host.shell(f"{STOCK} 2>&1"))
    session = play([both, both, CLOSING])
    for place_in_turn, key in ((0, "#7265"), (1, "#e294")):
        assert f"{key} again (x2" in session.model.turn(2, place_in_turn)


def test_what_the_model_asks_for_in_one_message_fails_once(
    host: Host, place: Place, service: Service, play: Played
) -> None:
    """Of two identical calls it has read neither result when it asks for them: only the next message repeats."""
    twice = do(host.shell(MARKED), host.shell(MARKED))
    session = play([twice, do(host.shell(MARKED)), do(host.shell(MARKED)), CLOSING])
    both = session.model.turn(1, 0) + session.model.turn(1, 1)
    assert "#7265 again (x2" in both
    assert "in a row" not in both
    assert "#7265 again (x3, 2 in a row" in session.model.turn(2)
    assert REFUSED in session.model.turn(3)
    assert (place.work / "ran.txt").read_text() == "x\n" * 3


def test_a_command_in_the_background_fails_when_it_ends(
    host: Host, place: Place, service: Service, play: Played
) -> None:
    """That it was started is no outcome: its end is read and counted, and the third start is refused."""
    start = host.start(f"sleep 2; {MARKED}")
    if start is None:
        pytest.skip("has no commands in the background")
    turns = [turn for _ in range(2) for turn in (do(start), *host.look())]
    session = play([*turns, do(start), CLOSING])
    assert "7265" not in session.model.turn(1)
    assert REFUSED in session.model.turn(len(turns) + 1)
    assert (place.work / "ran.txt").read_text() == "x\n" * 2


def test_a_service_that_is_killed_is_not_missed_and_counts_on(
    host: Host, place: Place, service: Service, play: Played
) -> None:
    """The host continues and reports nothing; after a restart the service has the earlier counts."""
    failing = host.shell(MARKED)
    session = play([do(failing), do(failing, before=service.kill), do(failing, before=service.start), CLOSING])
    away, back = session.model.turn(2), session.model.turn(3)
    assert "KeyError: 'lines'" in away
    assert "hook" not in away.lower()
    assert re.search(r"#7265 again \(x[23]|has failed 2 times", back)
    assert session.status == 0


def test_a_session_without_a_service_is_as_without_hooks(host: Host, place: Place, play: Played) -> None:
    """No word of ours, no failure of the host, and every call runs."""
    session = play([do(host.shell(MARKED)), do(host.shell(FINE)), CLOSING])
    Service(place).stop()
    assert "KeyError: 'lines'" in session.model.turn(1)
    assert "3 orders, all paid" in session.model.turn(2)
    assert "hook" not in (session.model.turn(1) + session.model.turn(2)).lower()
    assert session.status == 0


def test_a_sub_agent_is_a_run_of_its_own(host: Host, place: Place, service: Service, play: Played) -> None:
    """What its parent was refused, it may try."""
    delegate = do(host.delegate(f"{DELEGATED} look why orders.py fails."))
    wait = (do(call) for call in host.wait())
    session = play([do(host.shell(ORDERS)), do(host.shell(ORDERS)), delegate, *wait, CLOSING])
    inner = json.dumps(session.model.delegated)
    if host.name == "gemini":
        pytest.skip("gives the calls of its sub-agents the session of their parent, and no id")
    assert "KeyError: 'lines'" in inner
    assert "NOT EXECUTED" not in inner
    assert "again (x3" not in inner


def test_uninstalled_the_home_is_as_before(host: Host, place: Place) -> None:
    """Byte for byte, with no file or folder more or less."""
    host.prepare(place, "http://127.0.0.1:9")
    check_uninstalled(host, place)


def test_uninstalled_an_empty_home_is_empty(host: Host, place: Place) -> None:
    """Also where the host has no settings yet."""
    check_uninstalled(host, place)


def check_uninstalled(host: Host, place: Place) -> None:
    """Install and uninstall, and compare what is there."""
    before = contents(place)
    errcompact(place, "hooks", "install", host.name, "--yes")
    assert contents(place) != before
    errcompact(place, "hooks", "uninstall", host.name, "--yes")
    assert contents(place) == before


def contents(place: Place) -> dict[str, tuple[int, bytes]]:
    """The mode of everything in the home, and the bytes of each file."""
    return {
        str(found.relative_to(place.home)): (found.stat().st_mode, found.read_bytes() if found.is_file() else b"")
        for found in place.home.rglob("*")
    }
