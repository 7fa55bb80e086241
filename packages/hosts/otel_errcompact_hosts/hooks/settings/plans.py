"""Plan what an installation changes, show it, and do it."""

from __future__ import annotations

import json
from difflib import unified_diff
from importlib.metadata import version
from importlib.resources import files as resources
from typing import TYPE_CHECKING, Final

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.records import dataclass
from otel_errcompact_hosts.hooks.settings import editing, files, receipts
from otel_errcompact_hosts.hooks.settings.entries import CLIENT_SIGN, TOKEN_VARIABLE, is_ours, list_entries
from otel_errcompact_hosts.hooks.settings.places import (
    OWN_FILES,
    delete_prefix,
    prefix_path,
    receipts_folder,
    settings_file,
    write_prefix,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from otel_errcompact_hosts.hooks.settings.editing import Added, Place
    from otel_errcompact_hosts.hooks.settings.entries import Caller, Entry
    from otel_errcompact_hosts.hooks.settings.receipts import Receipt

PLUGIN: Final = "opencode.js"
_CALLER: Final = "const CALLER = []"
_MARK: Final = "\ufeff"
_TOKEN: Final = lazy_pattern(rf'(?<="{TOKEN_VARIABLE}": ")[^"]*')


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A change of one settings file, before it is made."""

    host: str
    path: Path
    before: bytes | None
    """None if there is no file."""

    after: bytes | None
    """None if there is to be none."""

    base: bytes | None = None
    """What `uninstall` brings back; None for no file."""

    made: tuple[Place, ...] = ()
    left: tuple[Entry, ...] = ()
    """Values of others that stay where ours would stand."""

    @property
    def changes(self) -> bool:
        """Whether there is anything to do."""
        return self.before != self.after

    def diff(self) -> str:
        """Return the change as people read it; empty without one."""
        old, new = (_readable(content) for content in (self.before, self.after))
        names = str(self.path), str(self.path)
        lines = unified_diff(old, new, *names, "as it is" if old else "not there", "new" if new else "deleted", n=2)
        return _TOKEN.sub("...", "".join(line if line.endswith("\n") else f"{line}\n" for line in lines))


def plan_install(host: str, caller: Caller, environ: Mapping[str, str], project: Path | None = None) -> Plan:
    """
    Return what an installation changes.

    Raises:
        ConfigurationError: The host's settings cannot be read, or are not what the host reads.
    """
    path = settings_file(host, environ, project)
    before = files.read_file(path)
    receipt = _find_receipt(host, path, environ)
    if host in OWN_FILES:
        after = _render_own(host, caller)
        return Plan(host=host, path=path, before=before, after=after, base=_find_own_base(before, receipt))
    entries = list_entries(host, caller)
    base = _find_base(path, before, receipt)
    added = _add_entries(base, entries, str(path))
    after = added.text.encode("utf-8")
    if before is not None and _holds_entries(before, entries, str(path)):
        after = before
    return Plan(host=host, path=path, before=before, after=after, base=base, made=added.made, left=added.left)


def plan_uninstall(host: str, environ: Mapping[str, str], project: Path | None = None) -> Plan:
    """Return what has to be undone."""
    path = settings_file(host, environ, project)
    before = files.read_file(path)
    receipt = _find_receipt(host, path, environ)
    after = _find_own_base(before, receipt) if host in OWN_FILES else _find_base(path, before, receipt)
    return Plan(host=host, path=path, before=before, after=after)


def apply_install(plan: Plan, environ: Mapping[str, str]) -> None:
    """
    Do what a plan says, and keep how to undo it.

    A shell prefix that the settings name is written in any case: without it no command of the host would start.

    Raises:
        ConfigurationError: The file cannot be written, or was changed in the meantime.
    """
    if plan.after is None:
        return
    if not plan.changes:
        if _names_prefix(plan.host, plan.after, environ):
            write_prefix(environ)
        return
    file = receipts.receipt_file(receipts_folder(environ), plan.host, plan.path)
    older = receipts.load_receipt(file)
    folders = receipts.make_folders(file.parent)
    if _names_prefix(plan.host, plan.after, environ):
        write_prefix(environ)  # before the settings that name it
    mode = 0o600 if TOKEN_VARIABLE.encode() in plan.after else 0o666
    folders += tuple(map(str, files.write_file(plan.path, plan.after, expected=plan.before, mode=mode)))
    receipt = receipts.Receipt(
        host=plan.host,
        path=str(plan.path),
        installed=receipts.hash_of(plan.after),
        undo=receipts.find_undo(plan.base or b"", plan.after),
        existed=plan.base is not None,
        made=plan.made,
        folders=tuple(dict.fromkeys((*(older.folders if older is not None else ()), *folders))),
        release=version("otel-errcompact"),
    )
    receipts.save_receipt(file, receipt)


def apply_uninstall(plan: Plan, environ: Mapping[str, str]) -> None:
    """Do what a plan of an uninstallation says, and forget the installation."""
    if plan.changes and plan.before is not None:
        if plan.after is None:
            files.delete_file(plan.path, expected=plan.before)
        else:
            files.write_file(plan.path, plan.after, expected=plan.before)
    if _names_prefix(plan.host, plan.before or b"", environ):
        delete_prefix(environ)
    file = receipts.receipt_file(receipts_folder(environ), plan.host, plan.path)
    receipt = receipts.load_receipt(file)
    receipts.drop_receipt(file, receipt.folders if receipt is not None else ())


def installed_entries(host: str, environ: Mapping[str, str], project: Path | None = None) -> tuple[object, ...]:
    """Return what is installed in a host's settings; empty for nothing."""
    path = settings_file(host, environ, project)
    content = files.read_file(path)
    if content is None:
        return ()
    if host == "opencode":
        return (_decode_text(content, str(path)),) if _is_own(content) else ()
    return editing.find_entries(_decode_text(content, str(path)), str(path))


def installed_release(host: str, environ: Mapping[str, str], project: Path | None = None) -> str:
    """Return the release that has installed the hooks; empty if unknown."""
    receipt = _find_receipt(host, settings_file(host, environ, project), environ)
    return receipt.release if receipt is not None else ""


def _names_prefix(host: str, content: bytes, environ: Mapping[str, str]) -> bool:
    return host == "claude-code" and json.dumps(prefix_path(environ)).encode() in content


def _find_receipt(host: str, path: Path, environ: Mapping[str, str]) -> Receipt | None:
    return receipts.load_receipt(receipts.receipt_file(receipts_folder(environ), host, path))


def _find_base(path: Path, before: bytes | None, receipt: Receipt | None) -> bytes | None:
    # What the file is without us: as it was, if it has not changed since.
    if before is None:
        return None
    if receipt is not None and (reverted := receipt.revert(before)) is not None:
        return reverted if receipt.existed else None
    text = _decode_text(before, str(path))
    without = editing.remove_entries(text, str(path), None if receipt is None else receipt.made)
    if without == text:
        return before
    is_empty = receipt is not None and not receipt.existed and not without.strip("\ufeff{} \t\r\n")
    return None if is_empty else without.encode("utf-8")


def _find_own_base(before: bytes | None, receipt: Receipt | None) -> bytes | None:
    if before is None or not _is_own(before):
        return before
    return receipt.revert(before) if receipt is not None and receipt.existed else None


def _add_entries(base: bytes | None, entries: tuple[Entry, ...], name: str) -> Added:
    return editing.add_entries(_decode_text(base, name) if base is not None else "", entries, name)


def _holds_entries(content: bytes, entries: tuple[Entry, ...], name: str) -> bool:
    text = _decode_text(content, name)
    wanted = [entry.value for entry in entries if is_ours(entry.value, entry.path)]
    return sorted(map(_spell_entry, editing.find_entries(text, name))) == sorted(map(_spell_entry, wanted))


def _spell_entry(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _render_own(host: str, caller: Caller) -> bytes:
    if host != "opencode":
        return _add_entries(None, list_entries(host, caller), host).text.encode()
    plugin = resources("otel_errcompact_hosts").joinpath("hooks", "settings", "assets", PLUGIN).read_text("utf-8")
    words = json.dumps([caller.python, "-I", "-S", caller.client])
    return plugin.replace(_CALLER, f"const CALLER = {words}").encode()


def _is_own(content: bytes) -> bool:
    return CLIENT_SIGN.encode() in content


def _decode_text(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            f"{name} is no UTF-8: byte {error.start}; correct it first, nothing was changed"
        ) from error


def _readable(content: bytes | None) -> list[str]:
    text = (content or b"").decode("utf-8", "replace").removeprefix(_MARK)
    return text.replace("\r\n", "\n").splitlines(keepends=True)
