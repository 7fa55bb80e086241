"""What an installation writes can be undone byte for byte, and nothing else changes."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_hosts.hooks import HOSTS
from otel_errcompact_hosts.hooks.settings.entries import Caller, is_ours
from otel_errcompact_hosts.hooks.settings.places import OWN_FILES, settings_file
from otel_errcompact_hosts.hooks.settings.plans import (
    apply_install,
    apply_uninstall,
    installed_entries,
    plan_install,
    plan_uninstall,
)
from otel_errcompact_hosts.json_text import JsonText
from packages.hosts.tests.hooks.settings.settings_texts import texts

if TYPE_CHECKING:
    from collections.abc import Iterator

EVERY = pytest.mark.parametrize("host", HOSTS)
SHARED = pytest.mark.parametrize("host", [host for host in HOSTS if host not in OWN_FILES])
FEWER = settings(max_examples=settings.default.max_examples // 3)
"""Each example writes and deletes files, for each host."""

CALLER = Caller(python="/opt/py thon/bin/python3", client="/opt/otel_errcompact_hosts/client/hook.py")
OLDER = Caller(python="/old/python3", client="/old/otel_errcompact_hosts/client/hook.py")


def put_in(host: str, environ: dict[str, str], caller: Caller = CALLER) -> None:
    apply_install(plan_install(host, caller, environ), environ)


def take_out(host: str, environ: dict[str, str]) -> None:
    apply_uninstall(plan_uninstall(host, environ), environ)


@contextmanager
def installed(host: str, text: str) -> Iterator[tuple[dict[str, str], Path]]:
    """A home in which a settings file had this text before the installation; its variables, and the file."""
    with tempfile.TemporaryDirectory() as folder:
        environ = {"HOME": folder, "XDG_STATE_HOME": f"{folder}/state"}
        path = settings_file(host, environ)
        path.parent.mkdir()
        path.write_bytes(text.encode())
        put_in(host, environ)
        yield environ, path


def everything(home: Path) -> dict[str, bytes | None]:
    """All files and folders of a home."""
    return {
        str(path.relative_to(home)): path.read_bytes() if path.is_file() else None for path in sorted(home.rglob("*"))
    }


def commands(host: str, text: str) -> list[str]:
    """Every handler of ours in a settings file, as text."""
    found = JsonText(text).get(("hooks",))
    assert isinstance(found, dict)
    return [json.dumps(group) for groups in found.values() for group in groups if is_ours(group)]


@EVERY
def test_an_empty_home_is_empty_again(host: str, home: Path) -> None:
    """Also the folders that were made for settings, receipts and programs."""
    environ = dict(os.environ)
    put_in(host, environ)
    assert installed_entries(host, environ)
    take_out(host, environ)
    assert everything(home) == {}


def test_all_hosts_leave_an_empty_home_in_any_order(home: Path) -> None:
    """A folder that two installations share goes with the last of them."""
    environ = dict(os.environ)
    for host in HOSTS:
        put_in(host, environ)
    for host in HOSTS:
        take_out(host, environ)
    assert everything(home) == {}


@SHARED
@given(text=texts())
@FEWER
def test_any_settings_file_is_the_same_again(host: str, text: str) -> None:
    """Comments, indentation, line ends, a byte order mark, hooks of others, the end of the file."""
    with installed(host, text) as (environ, path):
        after = path.read_bytes().decode()
        before, now = JsonText(text), JsonText(after)
        for name, value in before.root.value.items():  # type: ignore[attr-defined]  # an object
            if name not in {"hooks", "env"}:
                assert now.get((name,)) == value
        put_in(host, environ)
        assert path.read_bytes().decode() == after, "to install twice changes nothing"
        take_out(host, environ)
        assert path.read_bytes() == text.encode()


@SHARED
@given(text=texts())
@FEWER
def test_a_file_that_others_have_changed_keeps_what_they_wrote(host: str, text: str) -> None:
    """Exactly our entries go: what is left says the same as before, with what was written since."""
    with installed(host, text) as (environ, path):
        changed = JsonText(path.read_bytes().decode()).set(("theirs",), "since")
        path.write_bytes(changed.text.encode())
        take_out(host, environ)
        left = JsonText(path.read_bytes().decode())
        if host == "cursor" and left.get(("hooks",)):
            left = left.remove(("version",))  # the host needs it for the hooks of others
        assert left.root.value == JsonText(text).set(("theirs",), "since").root.value


@SHARED
@given(text=texts())
@FEWER
def test_without_a_receipt_our_entries_go_all_the_same(host: str, text: str) -> None:
    """The state folder was deleted: others' hooks stay, empty lists of ours do not."""
    with installed(host, text) as (environ, path):
        for receipt in Path(environ["XDG_STATE_HOME"], "otel-errcompact", "hooks").glob("*.json"):
            receipt.unlink()
        take_out(host, environ)
        assert "otel_errcompact" not in path.read_text(encoding="utf-8")
        assert b"theirs" in path.read_bytes() or "theirs" not in text


@EVERY
def test_an_older_installation_is_replaced(host: str, home: Path) -> None:
    """Its interpreter may be gone; what stands there before either is brought back in the end."""
    environ = dict(os.environ)
    path = settings_file(host, environ)
    put_in(host, environ, OLDER)
    put_in(host, environ)
    text = path.read_text()
    assert "/old/" not in text
    assert "/opt/py thon/bin/python3" in text
    take_out(host, environ)
    assert everything(home) == {}


@SHARED
def test_an_older_installation_without_a_receipt_is_replaced(host: str, home: Path) -> None:
    """Each event has one entry of ours, not two."""
    environ = dict(os.environ)
    path = settings_file(host, environ)
    put_in(host, environ, OLDER)
    for receipt in (home / ".local/state/otel-errcompact/hooks").glob("*.json"):
        receipt.unlink()
    put_in(host, environ)
    assert "/old/" not in path.read_text()
    assert len(commands(host, path.read_text())) == len(commands(host, path.read_text().replace("/old/", "")))
    assert len(set(commands(host, path.read_text()))) == len(commands(host, path.read_text()))


def test_the_file_behind_a_link_is_written(home: Path) -> None:
    """People keep settings in a repository of dot files; mode and link stay."""
    environ = dict(os.environ)
    real = home / "dotfiles" / "claude.json"
    real.parent.mkdir()
    real.write_text("{}\n")
    real.chmod(0o640)
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").symlink_to(real)
    before = everything(home)
    put_in("claude-code", environ)
    assert (home / ".claude" / "settings.json").is_symlink()
    assert "hook.py" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640
    take_out("claude-code", environ)
    assert everything(home) == before
    assert real.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"{", "is no JSON: line 1, column 2"),
        (b"[]", "holds no JSON object"),
        (b'{"hooks": 3}', "hooks is no object"),
        (b'{"hooks": {"PreToolUse": {}}}', "hooks > PreToolUse is no array"),
        (b'{"a": "\xff"}', "is no UTF-8: byte 7"),
    ],
)
def test_a_file_that_its_host_cannot_read_is_refused(content: bytes, problem: str, home: Path) -> None:
    """One clear error, and nothing is written."""
    environ = dict(os.environ)
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=problem):
        plan_install("claude-code", CALLER, environ)
    assert everything(home) == {".claude": None, ".claude/settings.json": content}


def test_a_change_in_the_meantime_is_not_lost(home: Path) -> None:
    """Between the question and the answer the host has written its file."""
    environ = dict(os.environ)
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text("{}")
    plan = plan_install("claude-code", CALLER, environ)
    path.write_text('{"model": "opus"}')
    with pytest.raises(ConfigurationError, match="changed by another program in the meantime"):
        apply_install(plan, environ)
    assert path.read_text() == '{"model": "opus"}'


@pytest.mark.parametrize("host", sorted(OWN_FILES))
@pytest.mark.parametrize("callers", [[CALLER], [OLDER, CALLER]])
def test_a_foreign_file_of_our_name_is_brought_back(host: str, callers: list[Caller], home: Path) -> None:
    """Nobody should have one; who does gets it back, also after a second release has been installed over the first."""
    environ = dict(os.environ)
    path = settings_file(host, environ)
    path.parent.mkdir(parents=True)
    path.write_text("export const Mine = async () => ({})\n")
    before = everything(home)
    for caller in callers:
        put_in(host, environ, caller)
        assert caller.client in path.read_text()
    take_out(host, environ)
    assert everything(home) == before


def test_a_foreign_file_in_place_of_ours_is_brought_back(home: Path) -> None:
    """Ours was deleted by hand, and another one of its name has come since."""
    environ = dict(os.environ)
    path = settings_file("copilot", environ)
    put_in("copilot", environ)
    path.write_text('{"version": 1, "hooks": {}}\n')
    put_in("copilot", environ)
    take_out("copilot", environ)
    assert path.read_text() == '{"version": 1, "hooks": {}}\n'


@pytest.mark.parametrize(
    "theirs",
    [
        {"type": "http", "url": "https://audit.example.com/v1/hooks/claude-code"},
        {"type": "command", "command": "ruff check packages/hosts/otel_errcompact_hosts/"},
    ],
)
def test_hooks_of_others_that_look_like_ours_stay(theirs: dict[str, str]) -> None:
    """A path on another machine, and somebody who works on this package."""
    text = json.dumps({"hooks": {"PreToolUse": [{"hooks": [theirs]}]}})
    with installed("claude-code", text) as (environ, path):
        assert len(commands("claude-code", path.read_text())) == 7
        path.write_text(JsonText(path.read_text()).set(("model",), "opus").text)
        take_out("claude-code", environ)
        assert json.loads(path.read_text()) == {**json.loads(text), "model": "opus"}


def test_a_shell_prefix_of_others_is_left_alone(home: Path) -> None:
    """It is a single place, and theirs."""
    environ = dict(os.environ)
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"env": {"CLAUDE_CODE_SHELL_PREFIX": "rtk"}}')
    plan = plan_install("claude-code", Caller(shell_prefix=f"{home}/otel-errcompact/hooks/errcompact-shell"), environ)
    assert [entry.path for entry in plan.left] == [("env", "CLAUDE_CODE_SHELL_PREFIX")]
    assert JsonText((plan.after or b"").decode()).get(("env",)) == {"CLAUDE_CODE_SHELL_PREFIX": "rtk"}


def test_the_shell_prefix_is_a_program_that_goes_with_the_hooks(home: Path) -> None:
    """It is written before the settings name it."""
    environ = dict(os.environ)
    prefix = home / ".local/state/otel-errcompact/hooks/errcompact-shell"
    put_in("claude-code", environ, Caller(shell_prefix=str(prefix)))
    assert os.access(prefix, os.X_OK)
    take_out("claude-code", environ)
    assert everything(home) == {}


def test_a_shell_prefix_that_was_deleted_is_written_again(home: Path) -> None:
    """The settings name it: without it the host could run no command at all."""
    environ = dict(os.environ)
    prefix = home / ".local/state/otel-errcompact/hooks/errcompact-shell"
    put_in("claude-code", environ, Caller(shell_prefix=str(prefix)))
    prefix.unlink()
    put_in("claude-code", environ, Caller(shell_prefix=str(prefix)))
    assert os.access(prefix, os.X_OK)


def test_receipts_are_private(home: Path) -> None:
    """Lines of settings that were changed stand in them."""
    put_in("claude-code", dict(os.environ))
    receipt = next((home / ".local/state/otel-errcompact/hooks").glob("*.json"))
    assert receipt.stat().st_mode & 0o777 == 0o600
    assert receipt.parent.stat().st_mode & 0o777 == 0o700


def test_http_is_for_events_that_have_the_time() -> None:
    """The first event starts the service, which no URL can."""
    from otel_errcompact_hosts.hooks.settings.entries import list_entries

    handlers = {
        entry.path[1]: entry.value["hooks"][0]  # type: ignore[index]
        for entry in list_entries("claude-code", Caller(port=4823))
    }
    commands = {event for event, found in handlers.items() if found["type"] == "command"}
    assert commands == {"SessionStart", "UserPromptSubmit", "SessionEnd"}
    assert handlers["PreToolUse"]["url"] == "http://127.0.0.1:4823/v1/hooks/claude-code"


@pytest.mark.parametrize(
    ("host", "event"),
    [
        ("claude-code", "SessionStart"),
        ("codex", "SessionStart"),
        ("copilot", "sessionStart"),
        ("gemini", "SessionStart"),
    ],
)
def test_the_start_of_a_session_starts_the_service(host: str, event: str) -> None:
    """It needs seconds until it answers; the first prompt may be seconds later, and the first failure again."""
    from otel_errcompact_hosts.hooks.settings.entries import list_entries

    assert ("hooks", event) in [entry.path for entry in list_entries(host, Caller())]
