from __future__ import annotations

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from otel_errcompact.config import Options, TrajectoryOptions, environment_variables
from otel_errcompact.digest import DigestOptions
from otel_errcompact.escalator.thresholds import Thresholds


def test_an_empty_environment_gives_the_defaults() -> None:
    """Nothing set means the defaults."""
    assert Options.from_environ({}) == Options()


def test_the_process_environment_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an argument the variables of this process count."""
    monkeypatch.setitem(os.environ, "OTEL_ERRCOMPACT_THRESHOLDS_TOTAL", "12")
    assert Options.from_environ().thresholds == Thresholds(total=12)


def test_every_kind_of_value_is_read() -> None:
    """Numbers, flags, paths and comma-separated names."""
    options = Options.from_environ(
        {
            "OTEL_ERRCOMPACT_ENABLED": "false",
            "OTEL_ERRCOMPACT_THRESHOLDS_SAME": "5",
            "OTEL_ERRCOMPACT_TRAJECTORY_PATH": "/var/log/agent.jsonl",
            "OTEL_ERRCOMPACT_CONTROL_FLOW": "AskHuman, Retry",
            "OTEL_ERRCOMPACT_WORKSPACE_ROOTS": "/srv/shop, /srv/lib",
            "OTEL_ERRCOMPACT_DIGEST_VERBATIM_TOOLS": "gcc",
            "OTEL_ERRCOMPACT_DIGEST_AUDIENCE": "developer",
        }
    )
    assert options.enabled is False
    assert options.thresholds.same == 5
    assert options.trajectory.path == Path("/var/log/agent.jsonl")
    assert options.control_flow == {"AskHuman", "Retry"}
    assert options.workspace_roots == (Path("/srv/shop"), Path("/srv/lib"))
    assert options.digest.verbatim_tools == {"gcc"}


def test_a_blank_value_is_no_value() -> None:
    """As everywhere in OpenTelemetry, an empty variable is as good as unset."""
    assert Options.from_environ({"OTEL_ERRCOMPACT_THRESHOLDS_SAME": " "}) == Options()


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        pytest.param("THRESHOLDS_SAME", "0", "Input should be greater than or equal to 1", id="too small"),
        pytest.param("THRESHOLDS_SAME", "three", "Input should be a valid integer", id="no number"),
        pytest.param("ENABLED", "perhaps", "Input should be a valid boolean", id="no flag"),
    ],
)
def test_a_bad_variable_warns_and_the_default_stays(name: str, value: str, problem: str) -> None:
    """Telemetry must not keep an application from starting; the warning names variable, value and default."""
    with pytest.warns(RuntimeWarning, match=rf"^OTEL_ERRCOMPACT_{name}='{value}' is ignored \({problem}.*default"):
        options = Options.from_environ({f"OTEL_ERRCOMPACT_{name}": value})
    assert options == Options()


def test_a_misspelt_variable_warns_where_the_application_asked() -> None:
    """It is named at the line of the application's own code; those of programs are read elsewhere."""
    environ = {"OTEL_ERRCOMPACT_STOER": "x", "OTEL_ERRCOMPACT_EXEC_FOLDER": "y", "OTEL_ERRCOMPACT_RUN": "z"}
    with pytest.warns(RuntimeWarning) as caught:
        assert Options.from_environ(environ) == Options()
    assert [(str(warning.message), warning.filename) for warning in caught] == [
        (
            "OTEL_ERRCOMPACT_STOER is no option and is ignored; did you mean OTEL_ERRCOMPACT_STORE?",
            __file__,
        )
    ]


def test_a_section_of_a_file_says_what_variables_say() -> None:
    """It is nested as the options are; lists stand for names, and what it leaves out comes from the variables."""
    section = {
        "thresholds": {"same": 5, "total": None},
        "hidden_failures": False,
        "control_flow": ["Declined", "Interrupt"],
        "trajectory": {"path": "errors.jsonl"},
    }
    environ = {"OTEL_ERRCOMPACT_THRESHOLDS_SAME": "7", "OTEL_ERRCOMPACT_THRESHOLDS_TOTAL": "9"}
    assert Options.from_section(section, environ) == Options(
        thresholds=Thresholds(same=5, total=9),
        hidden_failures=False,
        control_flow=frozenset({"Declined", "Interrupt"}),
        trajectory=TrajectoryOptions(path=Path("errors.jsonl")),
    )


def test_a_section_without_anything_is_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process's own variables are read where none are given."""
    monkeypatch.setenv("OTEL_ERRCOMPACT_THRESHOLDS_SAME", "7")
    assert Options.from_section({}).thresholds.same == 7


@pytest.mark.parametrize(
    ("section", "problem"),
    [
        pytest.param({"treshold": 3}, "OTEL_ERRCOMPACT_TRESHOLD is no option and is ignored", id="misspelt"),
        pytest.param({"modes": "x"}, r".*MODES is no option and is ignored; did you mean .*MODE\?", id="a near one"),
        pytest.param({"thresholds": 3}, "OTEL_ERRCOMPACT_THRESHOLDS is no option and is ignored", id="not nested"),
        pytest.param({"thresholds": {"same": "x"}}, "OTEL_ERRCOMPACT_THRESHOLDS_SAME='x' is ignored", id="no number"),
    ],
)
def test_a_bad_section_warns_and_the_default_stays(section: dict[str, object], problem: str) -> None:
    """As with variables: the application must start."""
    with pytest.warns(RuntimeWarning, match=f"^{problem}"):
        assert Options.from_section(section, {}) == Options()


def test_a_bad_argument_raises() -> None:
    """What is asked for in code must be right: the message names the value."""
    with pytest.raises(ValidationError, match="input_value=-1"):
        TrajectoryOptions(backups=-1)


def test_a_misspelt_option_raises() -> None:
    """An option that does not exist is refused instead of ignored."""
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        Options.model_validate({"treshold": 3})


def test_the_variables_are_listed_with_their_defaults() -> None:
    """Documentation and `--help` are made from this list."""
    assert environment_variables() == {
        "OTEL_ERRCOMPACT_ENABLED": "True",
        "OTEL_ERRCOMPACT_MODE": "enforce",
        "OTEL_ERRCOMPACT_THRESHOLDS_SAME": "3",
        "OTEL_ERRCOMPACT_THRESHOLDS_REJECTED": "5",
        "OTEL_ERRCOMPACT_THRESHOLDS_LOOP": "4",
        "OTEL_ERRCOMPACT_THRESHOLDS_LOOP_HALT": "6",
        "OTEL_ERRCOMPACT_THRESHOLDS_REFUSE": "2",
        "OTEL_ERRCOMPACT_THRESHOLDS_REFUSE_SECONDS": "300",
        "OTEL_ERRCOMPACT_THRESHOLDS_WAIT_SECONDS": "300",
        "OTEL_ERRCOMPACT_THRESHOLDS_CONSECUTIVE": "6",
        "OTEL_ERRCOMPACT_THRESHOLDS_TOTAL": "30",
        "OTEL_ERRCOMPACT_THRESHOLDS_HALTS": "",
        "OTEL_ERRCOMPACT_DIGEST_INLINE_TOKENS": "600",
        "OTEL_ERRCOMPACT_DIGEST_WHOLE_TOKENS": "400",
        "OTEL_ERRCOMPACT_DIGEST_UNREAD_TOKENS": "1000",
        "OTEL_ERRCOMPACT_DIGEST_WAY_BACK": "",
        "OTEL_ERRCOMPACT_DIGEST_BLOCK_TOKENS": "600",
        "OTEL_ERRCOMPACT_DIGEST_LINE_CHARACTERS": "400",
        "OTEL_ERRCOMPACT_DIGEST_VERBATIM_TOOLS": "",
        "OTEL_ERRCOMPACT_DIGEST_AUDIENCE": "",
        "OTEL_ERRCOMPACT_MEMORY_RUNS": "1000",
        "OTEL_ERRCOMPACT_MEMORY_CLASSES_PER_RUN": "100",
        "OTEL_ERRCOMPACT_MEMORY_CLASSES": "5000",
        "OTEL_ERRCOMPACT_MEMORY_RAW_CHARACTERS": "4000000",
        "OTEL_ERRCOMPACT_MEMORY_RAW_TEXT_CHARACTERS": "100000",
        "OTEL_ERRCOMPACT_TELEMETRY_CLASS_LABELS": "200",
        "OTEL_ERRCOMPACT_TELEMETRY_RECORD_UNSAMPLED": "False",
        "OTEL_SEMCONV_EXCEPTION_SIGNAL_OPT_IN": "events",
        "OTEL_ERRCOMPACT_TRAJECTORY_ENABLED": "True",
        "OTEL_ERRCOMPACT_TRAJECTORY_PATH": "",
        "OTEL_ERRCOMPACT_TRAJECTORY_MAX_BYTES": "16777216",
        "OTEL_ERRCOMPACT_TRAJECTORY_BACKUPS": "3",
        "OTEL_ERRCOMPACT_TRAJECTORY_REDACT": "False",
        "OTEL_ERRCOMPACT_CONTEXT_MODEL": "",
        "OTEL_ERRCOMPACT_CONTEXT_WINDOW_TOKENS": "200000",
        "OTEL_ERRCOMPACT_CONTEXT_RESERVE_TOKENS": "",
        "OTEL_ERRCOMPACT_CONTEXT_TRIGGER_SHARE": "0.9",
        "OTEL_ERRCOMPACT_CONTEXT_TARGET_SHARE": "0.6",
        "OTEL_ERRCOMPACT_CONTEXT_RESULT_BUDGET_TOKENS": "25000",
        "OTEL_ERRCOMPACT_CONTEXT_PREVIEW_TOKENS": "500",
        "OTEL_ERRCOMPACT_CONTEXT_SNIP_MESSAGES": "",
        "OTEL_ERRCOMPACT_CONTEXT_HEAD_MESSAGES": "4",
        "OTEL_ERRCOMPACT_CONTEXT_KEEP_RESULTS": "5",
        "OTEL_ERRCOMPACT_CONTEXT_CLEARABLE_TOOLS": "",
        "OTEL_ERRCOMPACT_CONTEXT_RECALL_TOKENS": "5000",
        "OTEL_ERRCOMPACT_CONTEXT_CACHE_SECONDS": "0",
        "OTEL_ERRCOMPACT_CONTEXT_WORDS_SHARE": "0.1",
        "OTEL_ERRCOMPACT_CONTEXT_INDEX_TOKENS": "3000",
        "OTEL_ERRCOMPACT_CONTEXT_RESTORE_FILES": "5",
        "OTEL_ERRCOMPACT_CONTEXT_RESTORE_FILE_TOKENS": "5000",
        "OTEL_ERRCOMPACT_CONTEXT_RESTORE_TOKENS": "50000",
        "OTEL_ERRCOMPACT_CONTEXT_RETRIES": "2",
        "OTEL_ERRCOMPACT_CONTEXT_REFUSALS": "",
        "OTEL_ERRCOMPACT_CONTEXT_BREAKER_FAILURES": "3",
        "OTEL_ERRCOMPACT_CONTEXT_BREAKER_SECONDS": "60",
        "OTEL_ERRCOMPACT_CONTEXT_FOLDER": "",
        "OTEL_ERRCOMPACT_CONTEXT_FOLDER_MAX_BYTES": "1000000000",
        "OTEL_ERRCOMPACT_CONTEXT_FOLDER_MAX_DAYS": "30",
        "OTEL_ERRCOMPACT_CONTEXT_FOLDER_REDACT": "False",
        "OTEL_ERRCOMPACT_ASK_TIMEOUT_SECONDS": "3600",
        "OTEL_ERRCOMPACT_STORE": "memory",
        "OTEL_ERRCOMPACT_HIDDEN_FAILURES": "True",
        "OTEL_ERRCOMPACT_WORKSPACE_ROOTS": "",
        "OTEL_ERRCOMPACT_CONTROL_FLOW": "",
    }


@pytest.mark.parametrize(
    ("text", "signal"),
    [
        pytest.param("", "events", id="unset"),
        pytest.param("logs", "logs", id="log records"),
        pytest.param("logs/dup", "logs/dup", id="both"),
        pytest.param(" http , logs", "logs", id="among the opt-ins of others"),
        pytest.param("logs,logs/dup", "logs/dup", id="both, although log records alone are listed too"),
        pytest.param("http/dup", "events", id="somebody else's"),
    ],
)
def test_the_standard_variable_for_the_signal_of_exceptions(text: str, signal: str) -> None:
    """It is a list, as OpenTelemetry's other opt-ins are, and what is unknown in it is no mistake."""
    options = Options.from_environ({"OTEL_SEMCONV_EXCEPTION_SIGNAL_OPT_IN": text})
    assert options.telemetry.exception_signal == signal


def test_a_way_back_of_ones_own_stays() -> None:
    """A host sets its own for agents with a shell, where the user has set none."""
    assert Options().with_way_back("errcompact raw").digest.way_back == "errcompact raw"
    own = Options(digest=DigestOptions(way_back="ask me"))
    assert own.with_way_back("errcompact raw").digest.way_back == "ask me"
