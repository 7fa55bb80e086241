"""All options in one place, and the only reader of the environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from otel_errcompact.digest import DigestOptions
from otel_errcompact.escalator.thresholds import Mode, Thresholds
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.history.stores.address import MEMORY, read_address
from otel_errcompact.history.stores.memory import MemoryLimits
from otel_errcompact.runtime.models import FrozenModel, setting
from otel_errcompact.runtime.warning import warn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

PREFIX: Final = "OTEL_ERRCOMPACT_"

_NAME: Final = "errcompact"
SOCKET: Final = f"{_NAME}.sock"
"""The name of the local service's socket in its folder."""

ExceptionSignal = Literal["events", "logs", "logs/dup"]
"""How exceptions are sent: as events on spans, as log records, or as both."""

_STANDARD: Final = {f"{PREFIX}TELEMETRY_EXCEPTION_SIGNAL": "OTEL_SEMCONV_EXCEPTION_SIGNAL_OPT_IN"}
"""Options that OpenTelemetry has a variable for."""

_CHECKS: Final[Mapping[str, Callable[[str], object]]] = {f"{PREFIX}STORE": read_address}
"""What checks more of a variable than the type of its value; in code the value is checked where it is used."""

_OF_PROGRAMS: Final = ("EXEC_", "RUN", "SERVICE", "SHELL_PREFIX_")
"""How variables of `errcompact exec` and of the service begin, which are read elsewhere."""

_LISTS: Final = (frozenset, tuple)
"""Types of options whose variables hold several values, separated by commas."""


class TelemetryOptions(FrozenModel):
    """The metrics and spans that are sent."""

    class_labels: int = setting(default=200, ge=1, le=1_500)
    """How many error classes of this process get a metric label of their own; later ones are `other`."""

    record_unsampled: bool = False
    """Whether spans that the sampler drops are recorded, though not exported, so that their failures are seen."""

    exception_signal: ExceptionSignal = "events"
    """How the raw errors of our own boundaries are sent; read from `OTEL_SEMCONV_EXCEPTION_SIGNAL_OPT_IN`."""


class TrajectoryOptions(FrozenModel):
    """Where raw errors are kept whole."""

    enabled: bool = True
    """Whether a file is written at all; raw errors stay on the spans in any case."""

    path: Path | None = None
    """
    The OTLP/JSON-lines file of raw errors; by default one of the service or program in `trajectories_folder()`. What
    became of their runs is beside it, in `*.runs.jsonl`.
    """

    max_bytes: int = setting(default=16_777_216, ge=65_536)
    """Size in bytes at which each of the two files is rotated to `<path>.1`."""

    backups: int = setting(default=3, ge=0)
    """How many rotated files are kept."""

    redact: bool = False
    """Whether secrets are redacted in the file too; raw means raw by default."""


def runs_path(path: Path) -> Path:
    """Return the path of the lives of runs: `x.runs.jsonl` beside `x.jsonl`."""
    return path.with_name(f"{path.stem}.runs{path.suffix}")


class ContextOptions(FrozenModel):
    """
    Says when the whole context is compacted, and how far.

    Layers that cut to a size begin at the trigger and stop at the target, so that a prompt cache rarely loses its
    prefix.
    """

    model: str = ""
    """The model: how tokens are counted, and its window where `window_tokens` is not given."""

    window_tokens: int = setting(default=200_000, ge=1)
    """The model's context window; if not given, that of `model`, and this default for a model that is not known."""

    reserve_tokens: int | None = setting(default=None, ge=0)
    """What stays free for the answer; by default 20,000 or a quarter of the window, whichever is less."""

    trigger_share: float = setting(default=0.9, gt=0, le=1)
    """The share of the room (the window less the reserve) at which snip, micro and summary begin."""

    target_share: float = setting(default=0.6, gt=0, le=1)
    """The share of the room to which they cut; not above the trigger's."""

    result_budget_tokens: int = setting(default=25_000, ge=1)
    """What the newest results may cost together; beyond, the largest go to the archive and a preview stays."""

    preview_tokens: int = setting(default=500, ge=20)
    """How much of an archived result stays to be seen."""

    snip_messages: int | None = setting(default=None, ge=8)
    """How many messages a conversation may have before its middle is taken out; by default any number."""

    head_messages: int = setting(default=4, ge=1)
    """How many messages at the beginning are never taken out: the task."""

    keep_results: int = setting(default=5, ge=1)
    """How many of the newest results stay whole."""

    clearable_tools: frozenset[str] = frozenset()
    """Tools whose old results may become one line; empty means all."""

    recall_tokens: int = setting(default=5_000, ge=100)
    """What the model's tool `recall` returns at most; less in a small window."""

    cache_seconds: float = setting(default=0, ge=0)
    """After how long without a request the provider's cache has expired, so that old results go; 0 for never."""

    words_share: float = setting(default=0.1, ge=0, le=1)
    """The share of the window that words of users and system may keep where messages are taken out."""

    index_tokens: int = setting(default=3_000, ge=0)
    """What the index below a marker of messages may cost: files, commands, open errors, names; 0 for none."""

    restore_files: int = setting(default=5, ge=0)
    """How many of the files read last are put back where messages are taken out."""

    restore_file_tokens: int = setting(default=5_000, ge=0)
    """What each of them may cost."""

    restore_tokens: int = setting(default=50_000, ge=0)
    """What all of them may cost together."""

    retries: int = setting(default=2, ge=0, le=10)
    """How often a call is made again after its context was compacted."""

    refusals: tuple[str, ...] = ()
    """Expressions for further refusals; `<limit>` and `<sent>` stand for numbers of tokens."""

    breaker_failures: int = setting(default=3, ge=1)
    """After how many failures in a row a conversation is compacted no more until the cool-down is over."""

    breaker_seconds: float = setting(default=60, gt=0)
    """How long that cool-down is, in seconds."""

    folder: Path | None = None
    """Where the whole of what was cut is kept; by default `state_folder()`, outside the working directory."""

    folder_max_bytes: int = setting(default=1_000_000_000, ge=0)
    """How much the folder may hold; beyond, the oldest texts are removed. 0 for any amount."""

    folder_max_days: float = setting(default=30, ge=0)
    """How many days a text stays after it was kept or read last; 0 for ever."""

    folder_redact: bool = False
    """Whether secrets are taken out of what is kept there; then it is not the whole of what was cut."""


class Options(FrozenModel):
    """All options of the library."""

    enabled: bool = True
    """The off switch: with `False`, `install()` installs nothing."""

    mode: Mode = "enforce"
    """
    What the library may do: `observe` (count, record, alert; change nothing that the agent reads), `advise` (also
    digests, notices, refusals of identical calls; ask and halt nothing), or `enforce`.
    """

    thresholds: Thresholds = Thresholds()
    digest: DigestOptions = DigestOptions()
    memory: MemoryLimits = MemoryLimits()
    telemetry: TelemetryOptions = TelemetryOptions()
    trajectory: TrajectoryOptions = TrajectoryOptions()
    context: ContextOptions = ContextOptions()
    ask_timeout_seconds: float = setting(default=3_600, ge=0)
    """
    How long an escalation handler may take to answer; 0 for as long as it likes. After it the run continues as it does
    without a handler. An asynchronous handler is cancelled; a synchronous one keeps its own thread until it returns.
    """

    store: str = MEMORY
    """
    Where the state of runs is: `memory` of this process, or shared with others: `sqlite:///path` with those of this
    machine, `redis://host:port/0` with those of many (extra `redis`). Raw errors are in neither.
    """

    hidden_failures: bool = True
    """Whether a result counts that only states a failure."""

    workspace_roots: tuple[Path, ...] = ()
    """
    Folders of the user's own code, which decide the place and the source line of a failure; as a variable separated by
    commas. Empty for the working directory, of exceptions at hand; without installed packages and interpreter always.
    """

    control_flow: frozenset[str] = frozenset()
    """Further class names of exceptions that are control flow and not failures."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str] | None = None) -> Options:
        """
        Read the options from `OTEL_ERRCOMPACT_*` and the standard's own variables.

        `thresholds.same` is read from `OTEL_ERRCOMPACT_THRESHOLDS_SAME`, and so on; `environment_variables()` lists
        them. A value that is not allowed, or a variable that is none, warns and leaves the default in place: telemetry
        must not keep an application from starting.
        """
        environ = os.environ if environ is None else environ
        _name_unknown(environ)
        return cls(**_read_variables(cls, PREFIX, environ))

    def with_way_back(self, way_back: str) -> Options:
        """Return these options with a way back, unless one is set."""
        digest = self.digest.model_copy(update={"way_back": self.digest.way_back or way_back})
        return self.model_copy(update={"digest": digest})

    @classmethod
    def from_section(cls, section: Mapping[str, object], environ: Mapping[str, str] | None = None) -> Options:
        """
        Read the options from a section of a configuration file.

        Its fields are nested as they are here; variables fill the gaps.

        What is not allowed warns, under the name that it would have as a variable, and is ignored.
        """
        named = {_STANDARD.get(variable, variable): text for variable, text in _flatten_section(section, PREFIX)}
        return cls.from_environ({**(os.environ if environ is None else environ), **named})


class ServiceOptions(FrozenModel):
    """
    Says how a service that is started on demand listens and ends.

    They are read from `OTEL_ERRCOMPACT_SERVICE_*`; all else it does by `Options`.
    """

    port: int | None = setting(default=None, ge=0, le=65_535)
    """A port of 127.0.0.1 beside the socket, for hosts that need a URL; 0 for any free one."""

    token: Path | None = None
    """The file with the token that requests to the port bring; in the state folder by default."""

    idle_seconds: float = setting(default=1_800, ge=0)
    """After how many seconds without a request it ends; 0 for never."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """What it logs."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str] | None = None) -> ServiceOptions:
        """Read the options; a bad value warns and is ignored."""
        return cls(**_read_variables(cls, f"{PREFIX}SERVICE_", os.environ if environ is None else environ))


def state_folder(environ: Mapping[str, str] | None = None, platform: str = sys.platform) -> Path:
    """
    Return the user's folder of what is cut from message lists.

    It is where the platform has programs keep what outlives a restart: `$XDG_STATE_HOME` or `~/.local/state`,
    `~/Library/Application Support`, `%LOCALAPPDATA%`. Where that cannot be written to, as in some containers, it is a
    new temporary folder, the same one for as long as the process runs.

    Args:
        environ: The environment; that of the process if None.
        platform: As `sys.platform` has it.
    """
    environ = os.environ if environ is None else environ
    folder = find_state_home(environ, platform) / "context"
    return folder if _can_be_written(folder) else _make_temporary_folder()


def trajectories_folder(environ: Mapping[str, str] | None = None) -> Path:
    """
    Return the user's folder of trajectory files.

    Args:
        environ: The environment; that of the process if None.
    """
    return find_state_home(environ) / "trajectories"


def service_socket(environ: Mapping[str, str] | None = None, platform: str = sys.platform) -> Path:
    """
    Return the path of the local service's socket.

    `OTEL_ERRCOMPACT_SERVICE` names it; else it is in the user's runtime folder, or in the state folder without one.
    `hosts/client/hook.py` finds the same path without an import of this module.

    Args:
        environ: The environment; that of the process if None.
        platform: As `sys.platform` has it.
    """
    environ = os.environ if environ is None else environ
    if named := environ.get(f"{PREFIX}SERVICE", ""):
        return Path(named).absolute()
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/") and _is_mine(runtime):
        return Path(runtime) / _NAME / SOCKET
    return find_state_home(environ, platform) / "service" / SOCKET


def service_folder(environ: Mapping[str, str] | None = None, platform: str = sys.platform) -> Path | None:
    """
    Return the folder of what the service keeps.

    It is None for that of the socket, where `OTEL_ERRCOMPACT_SERVICE` names one.

    Args:
        environ: The environment; that of the process if None.
        platform: As `sys.platform` has it.
    """
    environ = os.environ if environ is None else environ
    return None if environ.get(f"{PREFIX}SERVICE", "") else find_state_home(environ, platform) / "service"


def _is_mine(folder: str) -> bool:
    try:
        return os.stat(folder).st_uid == os.getuid()  # noqa: PTH116 - as the client does it
    except OSError:
        return False


def find_state_home(environ: Mapping[str, str] | None = None, platform: str = sys.platform) -> Path:
    """
    Return our folder where the platform has programs keep their state.

    Args:
        environ: The environment; that of the process if None.
        platform: As `sys.platform` has it.
    """
    variable, home = {
        "darwin": ("", "Library/Application Support"),
        "win32": ("LOCALAPPDATA", "AppData/Local"),
    }.get(platform, ("XDG_STATE_HOME", ".local/state"))
    named = Path((os.environ if environ is None else environ).get(variable, ""))
    if not named.is_absolute():
        # The specification has relative paths ignored: https://specifications.freedesktop.org/basedir-spec/latest/
        try:
            named = Path.home() / home
        except RuntimeError:  # a user that no table knows, whose home would be the root
            named = Path(os.sep, home)
    return named / "otel-errcompact"


def _can_be_written(folder: Path) -> bool:
    existing = next(path for path in (folder, *folder.parents) if os.path.exists(path))  # noqa: PTH110 - raises never
    return os.path.isdir(existing) and os.access(existing, os.W_OK | os.X_OK)  # noqa: PTH112 - likewise


@cache
def _make_temporary_folder() -> Path:
    import tempfile

    return Path(tempfile.mkdtemp(prefix="otel-errcompact-"))


def environment_variables() -> dict[str, str]:
    """Return every variable that `Options.from_environ` reads, with its default as text."""
    return dict(_list_variables(Options, PREFIX))


def _read_variables(model: type[FrozenModel], prefix: str, environ: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        variable = prefix + name.upper()
        if isinstance(field.default, FrozenModel):
            nested = type(field.default)
            if given := _read_variables(nested, f"{variable}_", environ):
                values[name] = nested(**given)
        elif standard := _STANDARD.get(variable):
            if standard in environ:
                values[name] = _read_opt_in(environ[standard])
        elif (text := environ.get(variable, "").strip()) and (
            value := _parse_value(model, name, variable, text)
        ) is not None:
            values[name] = value
    return values


def _flatten_section(section: Mapping[str, object], prefix: str) -> Iterator[tuple[str, str]]:
    """Yield a section of a file as variables with their values."""
    for name, value in section.items():
        variable = f"{prefix}{name}".upper()
        if isinstance(value, Mapping):
            yield from _flatten_section(cast("Mapping[str, object]", value), f"{variable}_")
        elif isinstance(value, list | tuple):
            yield variable, ",".join(map(str, cast("Sequence[object]", value)))
        elif value is not None:
            yield variable, str(value)


def _read_opt_in(text: str) -> ExceptionSignal:
    """Read the standard's list of opt-ins: `logs/dup` wins, and others are ignored."""
    wanted = {part.strip() for part in text.split(",")}
    return "logs/dup" if "logs/dup" in wanted else "logs" if "logs" in wanted else "events"


def _parse_value(model: type[FrozenModel], name: str, variable: str, text: str) -> Any:
    """Return the value of one field, or None with a warning."""
    from pydantic import ValidationError

    from otel_errcompact.redaction.redact import redact

    default = model.model_fields[name].default
    value: Any = text
    if isinstance(default, _LISTS):
        parts = [part.strip() for part in text.split(",") if part.strip()]
        value = frozenset(parts) if isinstance(default, frozenset) else tuple(parts)
    try:
        value = getattr(model.model_validate({name: value}), name)
        if check := _CHECKS.get(variable):
            check(value)
    except ValidationError as error:
        problem = error.errors()[0]["msg"]
    except ConfigurationError as error:
        problem = str(error)
    else:
        return value
    warn(f"{variable}={redact(text)!r} is ignored ({problem}); the default {default!r} is used")
    return None


def _name_unknown(environ: Mapping[str, str]) -> None:
    ours = [name for name in environ if name.startswith(PREFIX)]
    for name in sorted(set(ours) - environment_variables().keys()) if ours else ():
        if name.removeprefix(PREFIX).startswith(_OF_PROGRAMS):
            continue
        from difflib import get_close_matches

        close = get_close_matches(name, environment_variables(), n=1)
        warn(f"{name} is no option and is ignored{f'; did you mean {close[0]}?' if close else ''}")


def _list_variables(model: type[FrozenModel], prefix: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, field in model.model_fields.items():
        if isinstance(field.default, FrozenModel):
            found += _list_variables(type(field.default), f"{prefix}{name.upper()}_")
        else:
            variable = prefix + name.upper()
            found.append((_STANDARD.get(variable, variable), _write_default(field.default)))
    return found


def _write_default(default: Any) -> str:
    if isinstance(default, _LISTS):
        return ",".join(sorted(map(str, cast("Iterable[object]", default))))
    return "" if default is None else str(default)
