"""Started without code, by the real `opentelemetry-instrument`, and what its entry points do in a process."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider

from otel_errcompact.config import PREFIX, Options, environment_variables
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.escalator.thresholds import Thresholds
from otel_errcompact.installation import autoload, variables
from otel_errcompact.installation import install as installation
from otel_errcompact.installation.autoload import ErrcompactInstrumentor, pre_instrument
from otel_errcompact.installation.install import current_ledger, install, uninstall
from tests import console

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = Path(sys.executable).with_name("opentelemetry-instrument")
LOADED = "loaded by auto-instrumentation: spans are watched"


class Ran(NamedTuple):
    """What a program that was started without code has left."""

    printed: list[str]
    """Its own lines."""

    errors: dict[str, int]
    """Counted errors by type."""

    exemplars: int
    spans: list[str]
    """The names of the spans that were exported."""

    raw: list[str]
    """The last lines of the raw errors in the trajectory file."""

    log: list[str]
    """Standard error."""


def start(folder: Path, code: str, *flags: str, **environ: str) -> Ran:
    """Run a program under `opentelemetry-instrument`; it exports to standard output."""
    (folder / "app.py").write_text(code, encoding="utf-8")
    exporters = ("--traces_exporter=console", "--metrics_exporter=console", "--logs_exporter=none")
    done = subprocess.run(
        [PROGRAM, *exporters, *flags, sys.executable, "app.py"],
        cwd=folder,
        env={**os.environ, "OTEL_ERRCOMPACT_TRAJECTORY_PATH": "errcompact-trajectory.jsonl", **environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found = console.read(done.stdout)
    errors: dict[str, int] = {}
    for point in found.points:
        kind = point["attributes"]["error.type"]
        errors[kind] = errors.get(kind, 0) + point["value"]
    file = folder / "errcompact-trajectory.jsonl"
    return Ran(
        printed=found.printed,
        errors=errors,
        exemplars=sum(len(point["exemplars"]) for point in found.points),
        spans=[span["name"] for span in found.spans],
        raw=[_last_line(line) for line in file.read_text(encoding="utf-8").splitlines() if "resourceSpans" in line]
        if file.exists()
        else [],
        log=done.stderr.splitlines(),
    )


def _last_line(line: str) -> str:
    (event,) = json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["events"]
    texts = {one["key"]: one["value"].get("stringValue", "") for one in event["attributes"]}
    return texts["exception.stacktrace"].splitlines()[-1]


# An instrumentor of another distribution: it makes its tracer while auto-instrumentation loads it, as all do.
PROBE = """
from opentelemetry import trace
class Probe:
    def instrument(self, **options):
        Probe.tracer = trace.get_tracer("probe")
"""


def add_probe(folder: Path) -> None:
    (folder / "probe.py").write_text(PROBE, encoding="utf-8")
    metadata = folder / "aaa_probe-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: aaa-probe\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text("[opentelemetry_instrumentor]\nprobe = probe:Probe\n", encoding="utf-8")


class TestTheProgram:
    @pytest.mark.programs
    def test_everything_at_once(self, tmp_path):
        """
        Spans of an instrumentor, calls of an agent, an installation in code, one on a provider of the application's
        own, a worker that forks: nothing is counted twice or lost, though no span is sampled, and one line says so.
        """
        add_probe(tmp_path)
        code = """
import os, sys, warnings
from opentelemetry.sdk.trace import TracerProvider
from probe import Probe
import otel_errcompact as errcompact

first = errcompact.install()
own = TracerProvider()
second = errcompact.install(tracer_provider=own)
print(first.automatic, second.automatic, first.ledger is second.ledger)

def fail(tracer, error):
    try:
        with tracer.start_as_current_span("work"):
            raise error
    except type(error):
        pass

fail(Probe.tracer, KeyError("instrumented"))
fail(own.get_tracer("own"), OSError("own"))
with errcompact.run("r") as run:
    def call():
        with run.tool("sql") as call:
            raise LookupError("no such column")
        print(call.text.split(" at ")[0].split(" #")[0], flush=True)

    call()
    call()
    warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12 and later, of forking beside threads
    worker = os.fork()
    fail(Probe.tracer, ValueError("parent" if worker else "worker"))
    if not worker:
        call()
        os._exit(0)
    os.waitpid(worker, 0)
"""
        ran = start(
            tmp_path,
            code,
            "--traces_sampler=always_off",
            "--errcompact_telemetry_record_unsampled=true",
            "--errcompact_thresholds_same=9",
            OTEL_LOG_LEVEL="info",
        )
        assert ran.printed == ["True False True", "[LookupError]", "[LookupError]: no such column", "[LookupError]"]
        assert ran.errors == {"KeyError": 1, "OSError": 1, "LookupError": 2, "ValueError": 1}
        assert (ran.exemplars, ran.spans) == (0, [])
        assert sorted(ran.raw) == [
            "KeyError: 'instrumented'",
            *["LookupError: no such column"] * 3,
            "OSError: own",
            "ValueError: parent",
            "ValueError: worker",
        ]
        (line,) = ran.log
        assert line == (
            f"INFO:otel_errcompact:{LOADED}, those not sampled too, raw errors are kept in "
            f"{tmp_path}/errcompact-trajectory.jsonl; OTEL_ERRCOMPACT_ENABLED=false switches it off"
        )

    @pytest.mark.programs
    def test_a_bad_variable_and_what_code_asks_for(self, tmp_path):
        """The variable is named and left out, warnings being errors or not; options in code win over variables."""
        code = """
import otel_errcompact as errcompact
from otel_errcompact.installation import install as installation
from opentelemetry import trace

thresholds = installation.current_ledger().options.thresholds
print(thresholds.same, thresholds.total)
installed = errcompact.install(options=errcompact.Options(
    thresholds=errcompact.Thresholds(same=2), trajectory={"path": "errcompact-trajectory.jsonl"}
))
thresholds = installation.current_ledger().options.thresholds
print(installed.automatic, thresholds.same, thresholds.total)
try:
    with trace.get_tracer("app").start_as_current_span("work"):
        raise KeyError("sku")
except KeyError:
    pass
"""
        ran = start(
            tmp_path,
            code,
            OTEL_ERRCOMPACT_THRESHOLDS_SAME="x",
            OTEL_ERRCOMPACT_THRESHOLDS_TOTAL="20",
            PYTHONWARNINGS="error::RuntimeWarning",
        )
        assert ran.printed == ["3 20", "False 2 30"]
        assert (ran.errors, ran.exemplars, ran.spans) == ({"KeyError": 1}, 1, ["work"])
        assert ran.raw == ["KeyError: 'sku'"]
        (line,) = ran.log
        assert line.startswith("OTEL_ERRCOMPACT_THRESHOLDS_SAME='x' is ignored (")

    @pytest.mark.programs
    def test_switched_off(self, tmp_path):
        """Nothing is installed, nothing but the switch itself is imported, and the log says which switch it was."""
        code = """
import sys
print(sorted(name for name in sys.modules if name.startswith(("otel_errcompact", "pydantic"))))
from opentelemetry import trace
try:
    with trace.get_tracer("app").start_as_current_span("work"):
        raise KeyError("sku")
except KeyError:
    pass
"""
        ran = start(tmp_path, code, "--errcompact_enabled=false", OTEL_LOG_LEVEL="info")
        assert ran.printed == [
            "['otel_errcompact', 'otel_errcompact.installation', 'otel_errcompact.installation.autoload']"
        ]
        assert (ran.errors, ran.spans, ran.raw) == ({}, ["work"], [])
        assert ran.log == ["INFO:otel_errcompact:not loaded: OTEL_ERRCOMPACT_ENABLED=false"]


@pytest.fixture
def log(own_log: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    own_log.set_level(logging.INFO, "otel_errcompact")
    return own_log


@pytest.fixture
def tracers(monkeypatch: pytest.MonkeyPatch, in_tmp: Path) -> Iterator[TracerProvider]:
    """The provider that auto-instrumentation has set up, in a process in which nothing is decided yet."""
    provider = TracerProvider(shutdown_on_exit=False)
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    monkeypatch.setattr(installation, "_installed", [])
    monkeypatch.setattr(installation, "_default", [])
    monkeypatch.setattr(ErrcompactInstrumentor, "is_instrumented_by_opentelemetry", False)
    yield provider
    uninstall()


def processors(provider: TracerProvider) -> list[str]:
    return [type(one).__name__ for one in provider._active_span_processor._span_processors]


def lines(log: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage().partition(",")[0] for record in log.records]


class TestEntryPoints:
    def test_both_lead_to_one_installation(self, tracers, log):
        """Whichever is called second, and third, does and says nothing."""
        pre_instrument()
        ErrcompactInstrumentor().instrument(skip_dep_check=True)
        pre_instrument()
        assert processors(tracers) == ["ErrorCompactionSpanProcessor"]
        assert lines(log) == [LOADED]

    def test_options_of_a_configuration_file(self, tracers, log):
        """They come as arguments, before the other entry point is called, and stay."""
        ErrcompactInstrumentor().instrument(thresholds={"same": 5}, trajectory={"enabled": False})
        pre_instrument()
        assert current_ledger().options.thresholds == Thresholds(same=5)
        assert [record.getMessage() for record in log.records] == [
            f"{LOADED}, raw errors are kept nowhere; OTEL_ERRCOMPACT_ENABLED=false switches it off"
        ]

    @pytest.mark.parametrize(
        ("file", "off"),
        [
            pytest.param("disabled: true", "disabled: true", id="everything"),
            pytest.param(
                "instrumentation/development: {python: {errcompact: {enabled: false}}}",
                "enabled: false",
                id="the plugin",
            ),
        ],
    )
    def test_switched_off_in_a_configuration_file(self, tracers, log, monkeypatch, tmp_path, file, off):
        """Auto-instrumentation itself loads every instrumentor all the same; this one asks the file."""
        pytest.importorskip("opentelemetry.configuration")
        path = tmp_path / "otel.yaml"
        path.write_text(f'file_format: "1.0"\n{file}\n', encoding="utf-8")
        monkeypatch.setenv("OTEL_CONFIG_FILE", str(path))
        pre_instrument()
        ErrcompactInstrumentor().instrument(skip_dep_check=True)
        assert processors(tracers) == []
        assert [record.getMessage() for record in log.records] == [f"not loaded: {off} in {path}"]

    @pytest.mark.parametrize(
        ("file", "same"),
        [
            pytest.param("", 7, id="none"),
            pytest.param("instrumentation/development: {python: {flask: {}}}", 7, id="of others"),
            pytest.param("instrumentation/development: {python: {errcompact: {thresholds: {same: 5}}}}", 5, id="ours"),
        ],
    )
    def test_sections_of_a_configuration_file(self, tracers, monkeypatch, tmp_path, file, same):
        """Ours wins over the variables; without one they count."""
        pytest.importorskip("opentelemetry.configuration")
        path = tmp_path / "otel.yaml"
        path.write_text(f'file_format: "1.0"\n{file}\n', encoding="utf-8")
        monkeypatch.setenv("OTEL_CONFIG_FILE", str(path))
        monkeypatch.setenv("OTEL_ERRCOMPACT_THRESHOLDS_SAME", "7")
        pre_instrument()
        assert current_ledger().options.thresholds == Thresholds(same=same)

    def test_uninstrumenting(self, tracers, log):
        """Everything is taken out, and can be put in again."""
        instrumentor = ErrcompactInstrumentor()
        instrumentor.instrument()
        instrumentor.uninstrument()
        assert processors(tracers) == []
        instrumentor.instrument()
        assert processors(tracers) == ["ErrorCompactionSpanProcessor"]
        assert lines(log) == [LOADED, LOADED]

    @pytest.mark.parametrize(
        ("variable", "value"),
        [
            *(
                pytest.param("OTEL_ERRCOMPACT_ENABLED", word, id=word)
                for word in ("false", " No ", "0", "OFF", "f", "n")
            ),
            pytest.param("OTEL_SDK_DISABLED", "True", id="SDK"),
            pytest.param("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS", "errcompact", id="by name"),
            pytest.param("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS", "flask , errcompact", id="in a list"),
            pytest.param("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS", "*", id="all"),
        ],
    )
    def test_off_switches(self, tracers, log, monkeypatch, variable, value):
        """Each is honoured by both entry points, and named once."""
        monkeypatch.setenv(variable, value)
        pre_instrument()
        ErrcompactInstrumentor().instrument(skip_dep_check=True)
        assert processors(tracers) == []
        assert [record.getMessage() for record in log.records] == [f"not loaded: {variable}={value}"]

    @pytest.mark.parametrize("word", sorted(autoload._OFF))
    def test_the_options_read_the_same_words_as_off(self, word):
        """The switch that is read before the options means what they mean."""
        assert not Options.from_environ({"OTEL_ERRCOMPACT_ENABLED": word}).enabled

    @pytest.mark.parametrize(
        ("variable", "value"),
        [
            pytest.param("OTEL_ERRCOMPACT_ENABLED", "true", id="on"),
            pytest.param("OTEL_SDK_DISABLED", "false", id="SDK on"),
            pytest.param("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS", "flask,errcompactor", id="others"),
        ],
    )
    def test_what_is_no_off_switch(self, tracers, monkeypatch, variable, value):
        """Other values leave it on."""
        monkeypatch.setenv(variable, value)
        pre_instrument()
        assert processors(tracers) == ["ErrorCompactionSpanProcessor"]

    def test_nothing_is_raised(self, tracers, log, monkeypatch):
        """Whatever goes wrong is in the log, once, with its cause; the application starts."""
        monkeypatch.setattr(installation, "install", lambda **_: 1 / 0)
        pre_instrument()
        pre_instrument()
        (record,) = log.records
        assert record.getMessage() == "not loaded; the application goes on without it"
        assert "ZeroDivisionError" in str(record.exc_info)

    def test_no_provider_is_set(self, tracers, log, monkeypatch):
        """Where none is set up the application may set its own later; until then our own calls are counted."""
        proxy = trace.ProxyTracerProvider()
        monkeypatch.setattr(trace, "get_tracer_provider", lambda: proxy)
        set_globally: list[object] = []
        monkeypatch.setattr(trace, "set_tracer_provider", set_globally.append)
        monkeypatch.setattr(metrics, "set_meter_provider", set_globally.append)
        pre_instrument()
        assert set_globally == []
        assert lines(log) == ["loaded by auto-instrumentation: no spans are watched"]
        ledger = current_ledger()
        monkeypatch.setattr(trace, "get_tracer_provider", lambda: tracers)
        added = install()
        assert processors(tracers) == ["ErrorCompactionSpanProcessor"]
        assert installation._installed == [added]
        assert added.ledger is ledger

    def test_a_provider_without_an_exporter_is_no_reason_to_warn(self, tracers, log):
        """Whoever starts without code has chosen exporters, or none, by variables."""
        pre_instrument()
        assert [record.levelname for record in log.records] == ["INFO"]

    def test_registered(self):
        """What is installed announces these, and they can be loaded."""
        found = {
            (one.group, one.name): one.load()
            for one in entry_points(name="errcompact")
            if one.group.startswith("opentelemetry")
        }
        assert found == {
            ("opentelemetry_pre_instrument", "errcompact"): pre_instrument,
            ("opentelemetry_instrumentor", "errcompact"): ErrcompactInstrumentor,
            ("opentelemetry_environment_variables", "errcompact"): variables,
        }

    def test_flags(self):
        """Each variable becomes a flag of the program."""
        own = [name for name in environment_variables() if name.startswith(PREFIX)]
        assert [name for name in dir(variables) if name.startswith("OTEL_")] == sorted(own)


class TestCodeBesideIt:
    def test_without_arguments(self, tracers):
        """Installing once more in code gives what is there."""
        pre_instrument()
        added = install()
        assert added.automatic
        assert processors(tracers) == ["ErrorCompactionSpanProcessor"]

    @pytest.mark.parametrize(
        "arguments",
        [
            pytest.param({"options": Options(thresholds=Thresholds(same=2))}, id="options"),
            pytest.param({"ledger": Ledger()}, id="ledger"),
            pytest.param({"meter_provider": MeterProvider(shutdown_on_exit=False)}, id="meter provider"),
        ],
    )
    def test_with_arguments(self, tracers, arguments):
        """What code asks for takes the place of what nobody asked for, once."""
        pre_instrument()
        added = install(**arguments)
        assert not added.automatic
        assert install(**arguments) is added
        assert processors(tracers) == ["ErrorCompactionSpanProcessor"]
        assert installation._installed == [added]

    def test_code_switches_it_off(self, tracers):
        """That is what `enabled=False` means, whoever has installed it."""
        pre_instrument()
        install(options=Options(enabled=False))
        assert processors(tracers) == []

    def test_code_was_first(self, tracers):
        """What code has installed stays."""
        added = install(options=Options(thresholds=Thresholds(same=2)))
        pre_instrument()
        assert installation._installed == [added]


class TestTheLine:
    def test_shown_if_the_standard_variable_asks_for_it(self, tracers, monkeypatch, capsys):
        """Without any logging set up it goes to standard error, and leaves nothing set up behind."""
        logger = logging.getLogger("otel_errcompact")
        monkeypatch.setattr(logger, "propagate", False)
        monkeypatch.setenv("OTEL_LOG_LEVEL", "debug")
        pre_instrument()
        assert capsys.readouterr().err.startswith(f"INFO:otel_errcompact:{LOADED}")
        assert (logger.handlers, logger.level) == ([], logging.NOTSET)

    def test_not_shown_unasked(self, tracers, monkeypatch, capsys):
        """An agent may read what its tools' programs write to standard error."""
        monkeypatch.setattr(logging.getLogger("otel_errcompact"), "propagate", False)
        pre_instrument()
        assert capsys.readouterr().err == ""
