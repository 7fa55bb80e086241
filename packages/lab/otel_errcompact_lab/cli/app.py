"""The commands and their options; a command imports its own module."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Annotated, Final

import typer

from otel_errcompact_lab.cli.execute import EXEC_EPILOG, execute
from otel_errcompact_lab.cli.hooks import hooks
from otel_errcompact_lab.cli.mcp import mcp
from otel_errcompact_lab.cli.output import MEANINGS
from otel_errcompact_lab.cli.serve import SERVE_EPILOG, serve

app: Final = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    # Plain help reads the same in a pipe, and an error is a line instead of a box.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Files = Annotated[
    list[Path] | None,
    typer.Argument(metavar="FILE", help="Files, each of them one raw error; '-', or none, is standard input."),
]
Field = Annotated[
    str, typer.Option("--jsonl", metavar="FIELD", help="Each line is a JSON object; its FIELD is a raw error.")
]
Tool = Annotated[str, typer.Option("--tool", metavar="NAME", help="The tool that failed.")]
ExitCode = Annotated[
    int | None, typer.Option("--exit-code", metavar="N", help="The exit status of the command that failed.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def _threshold(meaning: str) -> object:
    return typer.Option(min=1, metavar="N", help=f"Escalate at N {meaning}.")


Same = Annotated[int | None, _threshold("turns in which one class failed in one operation")]
Rejected = Annotated[int | None, _threshold("such turns in which nothing was executed")]
Loop = Annotated[int | None, _threshold("identical failures without any success")]
Consecutive = Annotated[int | None, _threshold("turns in a row with failures of any class")]
Total = Annotated[int | None, _threshold("failures in one run")]
Outcomes = Annotated[
    Path | None,
    typer.Option(
        "--outcomes", metavar="FILE", exists=True, dir_okay=False, help="How runs ended: JSON or CSV, run,succeeded."
    ),
]

stack: Final = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(stack, name="stack", short_help="The operator's side: collector, dashboards and alerts.")
app.add_typer(hooks, name="hooks", short_help="Let coding agents read digests of what fails.")
app.add_typer(mcp, name="mcp", short_help="Let MCP clients read digests of what a server's tools fail with.")


# Behind \b the help keeps the lines as they are.

REPLAY_EPILOG: Final = """\
\b
Examples:
  errcompact replay ~/.claude/projects
  errcompact replay output.jsonl --same 4 --json | jq .total
  OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 errcompact replay runs/
"""
ANALYZE_EPILOG: Final = """\
\b
Examples:
  errcompact analyze ~/.claude/projects
  errcompact analyze results/ --calibrate --tolerance 2
  errcompact analyze results/ --calibrate --outcomes outcomes.csv
  errcompact analyze runs/ --json | jq '.total.verdict'
  errcompact analyze runs/ --json | jq '.runs[] | select(.stops != [])'
"""
KEY_EPILOG: Final = """\
\b
Examples:
  pytest 2>&1 | errcompact key
  errcompact key build.log --tool make --exit-code 2
  errcompact key failures.jsonl --jsonl text | jq -r .key | sort | uniq -c
"""
DIGEST_EPILOG: Final = """\
\b
Examples:
  pytest 2>&1 | errcompact digest --text
  errcompact digest first.log second.log --tool pytest
  errcompact digest failures.jsonl --jsonl text
"""
EXPLAIN_EPILOG: Final = """\
\b
Examples:
  errcompact explain build.log --tool bash --exit-code 2
  pytest 2>&1 | errcompact explain - --arguments pytest
  errcompact explain build.log --json | jq '.asked[] | select(.took)'

\b
What it shows, from top to bottom:
  Failure    failure or not, by whom it is declared or stated; whether
             waiting helps, or nothing was executed, and by which words
  Came off   each step of cleaning that changed the text
  Secrets    what redaction replaced, and which rule; never the secret
  Read by    the formats that were asked, in their order, with their
             markers that stand in the text, and which one took it;
             a format that is not named has no marker in the text
  Facts      type, location and cause, the lines that hold them (of the
             cleaned text), and what returned them first
  Not read   lines that the agent does not read, by what they are
  Template   what was masked, by rules of docs/masking.md
  Key        what the key is made of
  Hint       the advice, and the words that it is for
"""
RAW_EPILOG: Final = """\
\b
Examples:
  errcompact raw '#8809'
  errcompact raw 8809 --count 3
  claude mcp add errcompact -- errcompact raw --mcp
"""
REPORT_EPILOG: Final = """\
\b
Examples:
  errcompact report
  errcompact report --json | jq '.[].classes[].key'
  errcompact report errors.jsonl -o report.html
  errcompact report ~/.claude/projects -o report.html --raw
  errcompact report this-week.jsonl --compare last-week.jsonl -o report.html
"""
STACK_EPILOG: Final = """\
\b
Examples:
  errcompact stack export observability
  cd observability && docker compose up -d
"""
STATUS_EPILOG: Final = "\b\nExit statuses:\n" + "\n".join(
    textwrap.fill(meaning, 78, initial_indent=f"  {status:>3}  ", subsequent_indent=" " * 7)
    for status, meaning in MEANINGS.items()
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"errcompact {version('otel-errcompact')}")
        raise typer.Exit


@app.callback(epilog=STATUS_EPILOG)
def errcompact(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """
    The errors of LLM agents: compacted for the agent, counted for the operator, kept whole for debugging.

    Start with 'errcompact demo', then try 'errcompact replay' on runs of your own agent.
    """


@app.command(short_help="Watch a scripted agent fail, recover, loop and be stopped.")
def demo(
    *,
    plain: Annotated[bool, typer.Option("--plain", help="Neither colours nor drawn boxes.")] = False,
    trajectory: Annotated[
        Path | None,
        typer.Option(
            "--trajectory", metavar="FILE", help="Append the raw errors to this file, instead of a new one here."
        ),
    ] = None,
    repeat: Annotated[
        int, typer.Option(min=0, metavar="N", help="Play N sessions, each after the first in a line; 0: until stopped.")
    ] = 1,
    pause: Annotated[float, typer.Option(min=0, metavar="SECONDS", help="Wait between the sessions.")] = 0,
) -> None:
    """
    Watch a scripted agent at work: its tools fail, it reads the digests, recovers, loops and is stopped.

    It takes seconds and needs no model and no network. It ends with an account of what the agent saw instead of the
    raw errors, and where these are kept.
    """
    from otel_errcompact_lab.cli.demo import demo as play

    raise typer.Exit(play(plain=plain, trajectory=trajectory, repeat=repeat, pause_s=pause))


@app.command(short_help="Play recorded agent runs through the real pipeline.", epilog=REPLAY_EPILOG)
def replay(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Recorded runs: files, or folders of them.")],
    *,
    as_json: Json = False,
    trajectory: Annotated[
        Path | None, typer.Option("--trajectory", metavar="FILE", help="Keep the raw errors whole in this file.")
    ] = None,
    same: Same = None,
    rejected: Rejected = None,
    loop: Loop = None,
    consecutive: Consecutive = None,
    total: Total = None,
) -> None:
    """
    Play recorded agent runs through the real pipeline, and tell what would have become of their errors.

    Reads sessions of Claude Code, Codex, Copilot CLI, Gemini CLI, Kimi CLI and OpenCode, Cline tasks, chats of OpenAI
    and Anthropic (a message or a conversation a line, or one document), LangChain messages and LangSmith runs, AutoGen
    and Magentic-One histories and logs, results of tau-bench and tau2-bench, trajectories of SWE-agent and
    mini-swe-agent, OpenHands output, Inspect AI logs, aider and SpecStory histories, and traces as OTLP/JSON or Jaeger
    JSON. In folders, other files are named and left out. Each tool call becomes a span with the times of the record;
    calls that forks of a session share count once. Where OTEL_EXPORTER_OTLP_ENDPOINT is set (needs the extra 'otlp')
    spans and metrics go there; else nothing leaves this machine. No escalation stops a run: it continues as it was
    recorded, as a run without a handler does.
    """
    from otel_errcompact_lab.cli.replay import print_replay
    from otel_errcompact_lab.cli.thresholds import read_options

    options = read_options(same=same, rejected=rejected, loop=loop, consecutive=consecutive, total=total)
    raise typer.Exit(print_replay(paths, options, trajectory, as_json=as_json))


@app.command(short_help="Tell whether errors weigh, recur and loop in recorded runs.", epilog=ANALYZE_EPILOG)
def analyze(  # noqa: PLR0913 - the options of a command
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Recorded runs: files, or folders of them.")],
    *,
    as_json: Json = False,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Tell what each value of each threshold would have stopped.")
    ] = False,
    outcomes: Outcomes = None,
    tolerance: Annotated[
        float, typer.Option(min=0, max=100, metavar="PERCENT", help="Good runs that a threshold may stop.")
    ] = 5.0,
    same: Same = None,
    rejected: Rejected = None,
    loop: Loop = None,
    consecutive: Consecutive = None,
    total: Total = None,
) -> None:
    """
    Measure recorded agent runs: which share of the context errors are, how often they recur, which of them no flag
    reports, what thresholds would have stopped, and whether compaction is worth it.

    Reads what 'errcompact replay' reads, but for traces: these do not record what the agent read. Tokens are estimated
    as a quarter of the characters. Each run is judged on its own and then forgotten, whatever the size of the files.

    --calibrate takes the runs that say how they ended (a reward, an exit status, a check of the result), and prints for
    each value of each threshold how many good and bad runs it would have stopped, with 95 % intervals, and how many
    good runs any runs of the same age would have held: a rule that stops as many knows only a run's age.

    --outcomes FILE says how runs ended, in place of the records: {"run": true, ...}, or CSV with the columns run and
    succeeded. A run is named by its id, by the end of its file's path ('run1/task-7'), or as path:id.
    """
    from otel_errcompact_lab.cli.analyze import Request, print_analysis
    from otel_errcompact_lab.cli.thresholds import read_options

    request = Request(
        paths=tuple(paths),
        calibrate=calibrate or outcomes is not None,
        outcomes=outcomes,
        tolerance=tolerance / 100,
        options=read_options(same=same, rejected=rejected, loop=loop, consecutive=consecutive, total=total),
    )
    raise typer.Exit(print_analysis(request, as_json=as_json))


@app.command(short_help="Raw errors in, dedup keys and facts out.", epilog=KEY_EPILOG)
def key(files: Files = None, *, jsonl: Field = "", tool: Tool = "", exit_code: ExitCode = None) -> None:
    """
    Print the dedup key of raw errors and what it is made of, as a line of JSON each.

    A line has key, type, location, cause, template, format and details. Failures with one key are one class.
    """
    from otel_errcompact_lab.cli.inputs import Input
    from otel_errcompact_lab.cli.key import print_keys

    raise typer.Exit(print_keys(Input(files=files or (), field=jsonl, tool=tool, exit_code=exit_code)))


@app.command(short_help="Raw errors of one run in, what the agent reads out.", epilog=DIGEST_EPILOG)
def digest(
    files: Files = None,
    *,
    text: Annotated[
        bool, typer.Option("--text", help="Print texts as the agent reads them, with an empty line between.")
    ] = False,
    jsonl: Field = "",
    tool: Tool = "",
    exit_code: ExitCode = None,
) -> None:
    """
    Print what an agent would read in place of raw errors, as a line of JSON each or as text.

    The input is one run, in order: a failure that was seen before comes out short. A line has text, key, count (of
    its class so far), raw_tokens and digest_tokens (estimated as a quarter of the characters).
    """
    from otel_errcompact_lab.cli.digest import print_digests
    from otel_errcompact_lab.cli.inputs import Input

    source = Input(files=files or (), field=jsonl, tool=tool, exit_code=exit_code)
    raise typer.Exit(print_digests(source, as_text=text))


@app.command(short_help="One raw error in, why it was read as it was out.", epilog=EXPLAIN_EPILOG)
def explain(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="One raw error; '-', or none, is standard input.", show_default=False)
    ] = Path("-"),
    *,
    as_json: Json = False,
    tool: Tool = "",
    arguments: Annotated[
        str, typer.Option("--arguments", metavar="TEXT", help="The arguments of the call as JSON, or its command line.")
    ] = "",
    exit_code: ExitCode = None,
) -> None:
    """
    Explain what was made of a raw error, and why: which format read it, which line became the cause, which rule masked
    what, what the key is made of, and what the agent does not read.

    It runs the steps again one by one. What they do not show is not guessed.
    """
    from otel_errcompact_lab.cli.explain import print_explanations
    from otel_errcompact_lab.cli.inputs import Input

    source = Input(files=(file,), tool=tool, exit_code=exit_code)
    raise typer.Exit(print_explanations(source, arguments, as_json=as_json))


@app.command(short_help="Trajectory files or transcripts in, reports or one HTML page out.", epilog=REPORT_EPILOG)
def report(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            help="Trajectory files, or what 'errcompact replay' reads; folders too. By default your newest.",
        ),
    ] = None,
    *,
    as_json: Json = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="PAGE", help="Write one self-contained HTML page to this file."),
    ] = None,
    compare: Annotated[
        list[Path] | None,
        typer.Option("--compare", metavar="BASELINE", help="Say what is new, gone, more and less than in these files."),
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="On the page, do not take secrets out of the raw errors.")] = False,
) -> None:
    """
    Read trajectory files back, and print the report of each run in them as Markdown, or write one HTML page of all.

    A run is shown as it was reported when it ended, with the thresholds and answers of then; one that was killed is
    shown as it stood. Files that a trajectory was moved to when it was full (FILE.1 and so on) are read with it. A file
    of raw errors alone, as earlier releases wrote it, tells nothing of what recovered or escalated.

    The page has every class with its raw errors, a time line of each run, escalations and the token bill; it
    needs no server and no network. An older page is replaced, any other file is not. Secrets are taken out as far as
    their form is known.

    With --compare a report has what is new, gone, more and less than in the baseline: earlier files, or the runs of
    another model. Give the option again for each further file.
    """
    from otel_errcompact_lab.cli.comparison import print_comparison
    from otel_errcompact_lab.cli.report import find_newest, print_page, print_reports

    if output is not None and as_json:
        raise typer.BadParameter("a page is no JSON; leave one of the two out", param_hint="--output, --json")
    if output is None and raw:
        raise typer.BadParameter("is for a page; name its file with --output", param_hint="--raw")
    files = files or find_newest()
    if output is not None:
        raise typer.Exit(print_page(files, output, raw=raw, baseline=compare or ()))
    if compare:
        raise typer.Exit(print_comparison(files, compare, as_json=as_json))
    raise typer.Exit(print_reports(files, as_json=as_json))


@app.command(short_help="The name of a class in, its raw errors on this machine out.", epilog=RAW_EPILOG)
def raw(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="The class as a digest names it: '#8809', or 8809.", show_default=False),
    ] = "",
    *,
    count: Annotated[int, typer.Option("--count", min=1, metavar="N", help="Print so many, the newest first.")] = 1,
    as_tool: Annotated[
        bool, typer.Option("--mcp", help="Serve it to an agent on standard streams, as the MCP tool errcompact_raw.")
    ] = False,
) -> None:
    """
    Print the newest raw error of a class whose digest an agent has read, in whichever session.

    It is what 'errcompact exec' has kept, or the trajectory files of services, proxies and applications: that of
    OTEL_ERRCOMPACT_TRAJECTORY_PATH, or those in your state folder. Only their user can read these files.
    """
    from otel_errcompact_lab.cli.raw import print_raw, serve_raw

    if as_tool and name:
        raise typer.BadParameter("takes no NAME, which the agent gives", param_hint="--mcp")
    raise typer.Exit(serve_raw() if as_tool else print_raw(name, count=count))


@stack.callback()
def stack_commands() -> None:
    """The operator's side: OpenTelemetry Collector, Prometheus, Alertmanager, Tempo, Loki and Grafana, ready to run."""


@stack.command("export", short_help="Write it to a folder, to be started with Docker Compose.", epilog=STACK_EPILOG)
def stack_export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to; it is made if it is not there.")],
) -> None:
    """
    Write the stack to a folder: docker-compose.yml, .env, the configuration of each program, dashboards and alerts.

    All of it comes out of this installation; nothing is fetched. Files that were changed are not touched, and then
    nothing is written.
    """
    from otel_errcompact_lab.cli.stack import print_export

    raise typer.Exit(print_export(folder))


app.command(short_help="The local service that counts the calls of all agents of a machine.", epilog=SERVE_EPILOG)(
    serve
)
app.command(
    "exec",
    short_help="Run a command; if it fails, print a digest and where its output is.",
    epilog=EXEC_EPILOG,
    context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False},
)(execute)
