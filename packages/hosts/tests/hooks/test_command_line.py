"""`errcompact hooks`, as a program, in a home of its own, with the real client and the real service."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from otel_errcompact_hosts.hooks import HOSTS
from otel_errcompact_lab.cli import hook_settings
from packages.hosts.tests.service.services import Place

CANNOT = {
    "claude-code": [],
    "codex": [],
    "copilot": ["turn", "ids"],
    "cursor": ["replace"],
    "gemini": ["turn", "ids"],
    "opencode": [],
}


def run(place: Place, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command line, whose standard input is no terminal."""
    command = [sys.executable, "-m", "otel_errcompact", "hooks", *arguments]
    environ = {**place.environ, **variables}
    return subprocess.run(command, env=environ, cwd=place.folder, capture_output=True, text=True, input="", check=False)


@pytest.mark.programs
def test_without_a_terminal_only_the_change_is_shown(place: Place) -> None:
    """The exit status says that nothing was written."""
    done = run(place, "install", "claude-code")
    assert done.returncode == 1
    assert '+    "PreToolUse": [' in done.stdout
    assert done.stderr == (
        "errcompact: claude-code: nothing was written; repeat the command with --yes, or in a terminal\n"
    )
    assert not (place.folder / ".claude").exists()


@pytest.mark.programs
def test_install_and_uninstall_leave_a_file_as_it_was(place: Place) -> None:
    """With --yes, for a script; twice is the same as once."""
    path = place.folder / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(b'{\r\n\t"theme": "dark" // mine\r\n}')
    assert run(place, "install", "gemini", "--yes").returncode == 0
    assert b'"theme": "dark"' in path.read_bytes()
    assert run(place, "install", "gemini", "--yes").stdout == f"gemini: nothing to do, the hooks are in {path}\n"
    assert run(place, "uninstall", "gemini", "--yes").returncode == 0
    assert path.read_bytes() == b'{\r\n\t"theme": "dark" // mine\r\n}'
    assert run(place, "uninstall", "gemini", "--yes").stdout.startswith("gemini: nothing to do, there are no hooks of")


@pytest.mark.programs
def test_broken_settings_of_one_host_stop_no_other(place: Place) -> None:
    """They are named and left as they are; the status says that something was not done."""
    broken = place.folder / ".codex" / "hooks.json"
    broken.parent.mkdir()
    broken.write_text("{bad")
    for action, expected in (("install", True), ("uninstall", False)):
        done = run(place, action, "codex", "gemini", "--yes")
        assert (done.returncode, broken.read_text()) == (1, "{bad")
        assert done.stderr.startswith(f"errcompact: codex: {broken}")
        assert (place.folder / ".gemini" / "settings.json").exists() is expected


def test_hooks_without_the_service_say_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are written, and count nothing until what the service needs is installed."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("OTEL_ERRCOMPACT_SERVICE", str(tmp_path / "no.sock"))
    monkeypatch.setattr(hook_settings, "find_spec", lambda name: None if name == "fastapi" else find_spec(name))
    needs = "the service needs the extra 'serve': pip install 'otel-errcompact[serve]'"
    assert hook_settings.install_hooks(["codex"], None, port=None, yes=True) == 0
    assert capsys.readouterr().err.endswith(f"the hooks cannot report yet: {needs}\n")
    hook_settings.print_status(None, as_json=False)
    assert f"service: does not run: {needs}" in capsys.readouterr().out


@pytest.mark.programs
def test_a_project_has_settings_of_its_own(place: Place) -> None:
    """The user's own are not touched."""
    assert run(place, "install", "codex", "--project", ".", "--yes").returncode == 0
    assert (place.folder / ".codex" / "hooks.json").exists()
    assert run(place, "uninstall", "--project", ".", "--yes").returncode == 0
    assert not (place.folder / ".codex").exists()


@pytest.mark.programs
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["install", "emacs"], "there is no host 'emacs'; the hosts are claude-code, codex, copilot, cursor, gemini, "),
        (["doctor", "emacs"], "there is no host 'emacs'"),
        (["doctor", "codex"], "has no hooks of ours; run 'errcompact hooks install codex' first"),
        (["install", "codex", "--http", "4778", "--yes"], "--http is for claude-code"),
    ],
)
def test_a_wrong_use_is_one_clear_error(arguments: list[str], problem: str, place: Place) -> None:
    """It says what is wrong, and what to do."""
    done = run(place, *arguments)
    assert done.returncode == 2
    assert problem in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.programs
def test_a_home_without_agents_is_said(place: Place) -> None:
    """Nothing is installed for what is not there."""
    done = run(place, "install", PATH="/nonexistent")
    assert "no coding agent was found; name one: claude-code" in done.stderr
    assert done.returncode == 1


@pytest.mark.programs
def test_status_knows_hosts_and_service(place: Place) -> None:
    """As a table, and as JSON for programs."""
    run(place, "install", "opencode", "--yes")
    found = json.loads(run(place, "status", "--json").stdout)
    assert found["service"] == {}
    states = {state["host"]: state for state in found["hosts"]}
    assert [host for host in HOSTS if states[host]["installed"]] == ["opencode"]
    assert states["opencode"]["release"]
    printed = run(place, "status").stdout
    assert f"{states['opencode']['file']}; no event yet" in printed
    assert "service: does not run; the first hook starts it" in printed


@pytest.mark.programs
def test_status_says_how_old_the_last_event_of_a_host_is(place: Place) -> None:
    """In hours, minutes and seconds."""
    place.start("--store", "memory")
    run(place, "install", "gemini", "--yes")
    place.ask("POST", "/v1/hooks/gemini", {"hook_event_name": "BeforeAgent", "session_id": "s1", "prompt": "no"})
    (noted,) = place.folder.rglob("heard/gemini")
    then = time.time() - 2 * 3_600
    os.utime(noted, (then, then))
    assert "; last event 2:00:0" in run(place, "status").stdout


@pytest.mark.programs
@pytest.mark.parametrize("host", HOSTS)
def test_the_doctor_finds_that_all_holds(host: str, place: Place) -> None:
    """Through the installed program and the service, which it starts; what the host cannot do is no fault."""
    place.start("--store", "memory")
    assert run(place, "install", host, "--yes").returncode == 0
    done = run(place, "doctor", host, "--json")
    findings = {each["capability"]: each["held"] for each in json.loads(done.stdout)["findings"]}
    expected = dict.fromkeys(("see", "replace", "add", "refuse", "stop", "turn", "ids"), "yes")
    assert findings == expected | dict.fromkeys(CANNOT[host], "cannot"), done.stdout
    assert done.returncode == 0
    assert place.ask("GET", "/v1/runs")[1]["runs"] == [], "what the doctor has made is forgotten"


@pytest.mark.programs
def test_the_doctor_names_what_does_not_hold(place: Place) -> None:
    """A hook was taken out by hand: without it a halted run would continue."""
    place.start("--store", "memory")
    run(place, "install", "codex", "--yes")
    path = place.folder / ".codex" / "hooks.json"
    hooks = json.loads(path.read_text())
    del hooks["hooks"]["PreToolUse"]
    path.write_text(json.dumps(hooks))
    done = run(place, "doctor", "codex")
    assert done.returncode == 1
    again = "#c2b2 again (x2, 2 in a row; 2 identical calls failed and no call has su..."
    told = f"""{{"decision": "block", "reason": "[KeyError] at totals (/srv/shop/orders.py:39): 'lines' {again}"""
    no_refusal = "the hook answered nothing"
    no_hook = "no hook is installed for the event PreToolUse"
    assert done.stdout.splitlines() == [
        f"tried: 5 commands in {path}",
        "see      yes  a command that failed twice was counted twice",
        "replace  yes  the agent reads a digest in place of the output of a command that failed",
        "add      yes  the agent reads how often the command has failed",
        f"refuse   NO   a command that had failed twice is executed a third time: {no_refusal}",
        f"stop     NO   a halted run would continue: {no_hook}",
        f"turn     NO   two parallel calls that failed counted as two failed turns: the hook answered {told}",
        "ids      yes  a call that was reported twice counted once",
        "",
        "3 of 7 did not hold:",
        f"- {path} has no hook of ours for the event PreToolUse",
        "What to do:",
        "- run 'errcompact hooks install codex': it writes the hooks again",
    ]
    assert run(place, "install", "codex", "--yes").returncode == 0
    assert run(place, "doctor", "codex").returncode == 0


@pytest.mark.programs
def test_the_doctor_names_options_that_change_what_holds(place: Place) -> None:
    """Nothing is broken: the service only observes, as its user has said."""
    observing = {"OTEL_ERRCOMPACT_MODE": "observe"}
    place.start("--store", "memory", **observing)
    run(place, "install", "codex", "--yes")
    done = run(place, "doctor", "codex", **observing)
    assert done.returncode == 1
    assert "replace  NO   the agent reads the raw output of a command that failed: the hook" in done.stdout
    advice = "- these options change what holds, if the service has them too: OTEL_ERRCOMPACT_MODE"
    assert done.stdout.splitlines()[-2:] == ["What to do:", advice]


@pytest.mark.programs
def test_http_is_installed_with_its_token_and_leaves_nothing(place: Place) -> None:
    """The next event starts a service on the port; what is shown is not the token, and all is as before at the end."""
    named = {"XDG_STATE_HOME": str(place.folder / "own" / "state"), "OTEL_ERRCOMPACT_SERVICE": ""}
    before = sorted(place.folder.rglob("*"))
    done = run(place, "install", "claude-code", "--http", "47779", "--yes", **named)
    settings = place.folder / ".claude" / "settings.json"
    token = json.loads(settings.read_text())["env"]["ERRCOMPACT_SERVICE_BEARER"]
    kept = place.folder / "own" / "state" / "otel-errcompact" / "service" / "errcompact.sock.token"
    assert kept.read_text() == f"{token}\n"
    assert kept.with_name("errcompact.sock.port").read_text() == "47779\n"
    assert [path.stat().st_mode & 0o777 for path in (settings, kept)] == [0o600, 0o600]
    assert '"ERRCOMPACT_SERVICE_BEARER": "..."' in done.stdout
    assert token not in done.stdout
    again = run(place, "install", "claude-code", "--http", "47779", "--yes", **named)
    assert again.stdout == f"claude-code: nothing to do, the hooks are in {settings}\n"
    assert token not in run(place, "uninstall", "claude-code", "--yes", **named).stdout
    assert sorted(place.folder.rglob("*")) == before


@pytest.mark.programs
def test_a_token_stands_in_no_settings_that_others_read(place: Place) -> None:
    """Neither in those of a repository, nor in a file that is open to other users; nothing is written."""
    settings = place.folder / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text("{}")
    settings.chmod(0o644)
    open_to_others = run(place, "install", "claude-code", "--http", "47779", "--yes")
    assert open_to_others.stderr == (
        f"errcompact: other users can read {settings}, where a token would stand: chmod 600 it first\n"
    )
    of_project = run(place, "install", "claude-code", "--http", "47779", "--project", str(place.folder), "--yes")
    assert of_project.stderr == (
        "errcompact: --http is for your own settings: a repository is no place for the token of the port\n"
    )
    assert [settings.read_text(), *place.folder.glob("*.port")] == ["{}"]


@pytest.mark.programs
def test_the_doctor_says_why_a_url_is_of_no_use(place: Place) -> None:
    """No token, or no service on that port."""
    place.start("--store", "memory")
    run(place, "install", "claude-code", "--http", "9", "--yes")
    next(place.folder.rglob("errcompact.sock.port")).unlink()
    done = run(place, "doctor", "claude-code", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert found["problems"][0].startswith("nothing answers at http://127.0.0.1:9/v1/hooks/claude-code")
    assert found["steps"][-1] == (
        "run 'errcompact hooks install claude-code --http 9': it lets the service listen there, with another number if "
        "a program has taken that port"
    )


@pytest.mark.programs
def test_the_doctor_says_that_a_shell_prefix_is_gone(place: Place) -> None:
    """The settings name it, so that the host can run no command: more than a digest is missing."""
    place.start("--store", "memory")
    run(place, "install", "claude-code", "--yes")
    (prefix,) = place.folder.rglob("errcompact-shell")
    prefix.unlink()
    found = json.loads(run(place, "doctor", "claude-code", "--json").stdout)
    assert [each["evidence"] for each in found["findings"] if each["held"] == "no"] == [
        "behind the shell prefix no command runs"
    ]
    assert found["problems"] == [f"the program {prefix} cannot be started: No such file or directory"]
    assert found["steps"] == ["run 'errcompact hooks install claude-code': it writes the shell prefix again"]
    assert run(place, "install", "claude-code", "--yes").returncode == 0
    assert run(place, "doctor", "claude-code").returncode == 0


@pytest.mark.programs
def test_the_doctor_starts_no_program_that_a_plugin_does_not_name(place: Place) -> None:
    """Its line was changed by hand; what is left of the command would be OpenCode itself."""
    run(place, "install", "opencode", "--yes")
    path = place.folder / ".config" / "opencode" / "plugin" / "errcompact.js"
    path.write_text(path.read_text().replace("const CALLER = [", "const CALLER = [/* mine */"))
    done = run(place, "doctor", "opencode")
    assert (done.returncode, done.stderr) == (
        2,
        f"errcompact: {path} does not say which program to call; run 'errcompact hooks install opencode' again\n",
    )


@pytest.mark.programs
def test_a_host_reads_nothing_of_a_service_that_is_away(place: Place) -> None:
    """Nothing is printed, and the exit status is 0: the command of every host, with an interpreter that is gone too."""
    (place.folder / "file").touch()
    environ = {**place.environ, "OTEL_ERRCOMPACT_SERVICE": str(place.folder / "file" / "e.sock")}
    for host in ("codex", "copilot", "gemini", "cursor"):
        run(place, "install", host, "--yes")
    for path in (".codex/hooks.json", ".copilot/hooks/errcompact.json", ".gemini/settings.json", ".cursor/hooks.json"):
        text = (place.folder / path).read_text()
        for groups in json.loads(text)["hooks"].values():
            handler = groups[0].get("hooks", groups)[0]
            command = handler.get("bash") or handler["command"]
            for each in (command, command.replace(sys.executable, "/nonexistent/python")):
                done = subprocess.run(
                    ["/bin/sh", "-c", each], env=environ, input="{}", capture_output=True, text=True, check=False
                )
                expected = "{}" if ".cursor" in path else ""
                assert (done.stdout, done.stderr, done.returncode) == (expected, "", 0)


def test_the_client_is_where_the_settings_name_it() -> None:
    """The program of the service's part."""
    import otel_errcompact_hosts
    from otel_errcompact_hosts.hooks.settings.entries import CLIENT

    assert Path(otel_errcompact_hosts.__file__).parent / "client" / "hook.py" == CLIENT
    assert CLIENT.is_file()
