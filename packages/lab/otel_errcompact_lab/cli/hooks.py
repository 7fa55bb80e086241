"""`errcompact hooks`: install, uninstall and try hooks of coding agents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

hooks: Final = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

HOSTS: Final = "claude-code, codex, copilot, cursor, gemini or opencode"

INSTALL_EPILOG: Final = """\
\b
Examples:
  errcompact hooks install claude-code
  errcompact hooks install                    # every host that is found
  errcompact hooks install codex --project .  # for one repository
  errcompact hooks install claude-code --http 4778 --yes
"""
UNINSTALL_EPILOG: Final = """\
\b
Examples:
  errcompact hooks uninstall claude-code
  errcompact hooks uninstall --yes            # every host that has hooks of ours
"""
STATUS_EPILOG: Final = """\
\b
Examples:
  errcompact hooks status
  errcompact hooks status --json | jq '.hosts[] | select(.installed)'
"""
DOCTOR_EPILOG: Final = """\
\b
Examples:
  errcompact hooks doctor claude-code
  errcompact hooks doctor gemini --json

\b
The rows of the table:
  see      a failed call arrives, also one that the host calls a success
  replace  the agent reads the digest in place of the raw output
  add      the agent reads the count beside the raw output
  refuse   the third identical call is not executed, and says why
  stop     a run that was halted ends at the host's gate
  turn     parallel calls of one message count as one turn
  ids      a call that two hooks report counts once
"""

Hosts = Annotated[list[str] | None, typer.Argument(metavar="HOST", help=f"{HOSTS}; without one all that apply.")]
Project = Annotated[
    Path | None,
    typer.Option(
        "--project", metavar="DIR", exists=True, file_okay=False, help="The settings of this repository, not your own."
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@hooks.callback()
def hooks_commands() -> None:
    """
    Let coding agents read digests of what fails.

    Their hooks report it to a small service on this machine.
    """


@hooks.command(short_help="Write hooks into a host's settings, after it has shown the change.", epilog=INSTALL_EPILOG)
def install(
    hosts: Hosts = None,
    *,
    project: Project = None,
    http: Annotated[
        int | None,
        typer.Option(
            "--http",
            min=1,
            max=65_535,
            metavar="PORT",
            help="Let Claude Code call the service on this port, in a tenth of the time.",
        ),
    ] = None,
    yes: Yes = False,
) -> None:
    """
    Write hooks into the settings of coding agents.

    Each change is shown first, and asked about. Everything else in a settings file stays as it is, byte for byte, and
    'errcompact hooks uninstall' brings back what was there. Without a terminal, and without --yes, the change is shown
    and nothing is written: the exit status is 1.

    Each hook is a program of a few milliseconds that passes the event to a service on this machine, which it starts
    when it is away. A service that does not answer costs nothing, and changes nothing. With --http the service listens
    on the port too, whose token stands in your settings then.
    """
    from otel_errcompact_lab.cli.hook_settings import install_hooks

    raise typer.Exit(install_hooks(hosts or (), project, port=http, yes=yes))


@hooks.command(short_help="Take them out again, byte for byte.", epilog=UNINSTALL_EPILOG)
def uninstall(hosts: Hosts = None, *, project: Project = None, yes: Yes = False) -> None:
    """
    Take our hooks out of the settings of coding agents.

    Each change is shown first, and asked about. A file that nothing has changed since is what it was before the
    installation; of another one exactly our entries go. Files and folders that the installation has made are removed.
    """
    from otel_errcompact_lab.cli.hook_settings import uninstall_hooks

    raise typer.Exit(uninstall_hooks(hosts or (), project, yes=yes))


@hooks.command(short_help="Which hosts are found, which have hooks, whether the service runs.", epilog=STATUS_EPILOG)
def status(*, project: Project = None, as_json: Json = False) -> None:
    """
    Print which coding agents are found, and which have hooks.

    With the release that has installed them, and whether the service runs.
    """
    from otel_errcompact_lab.cli.hook_settings import print_status

    raise typer.Exit(print_status(project, as_json=as_json))


@hooks.command(short_help="Try the installed hooks with failures that were recorded.", epilog=DOCTOR_EPILOG)
def doctor(
    host: Annotated[str, typer.Argument(metavar="HOST", help=f"{HOSTS}.")],
    *,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """
    Send known failures through the hooks that are installed.

    They are called as the host would call them. Prints a line for each of seven things that hooks do: whether it held
    ('yes'), did not ('NO'), or is not possible in this host ('-'); where something did not hold also what was in the
    way, and what to do. The exit status is 1 then. The host itself is not started: whether it trusts the hooks, and has
    been restarted since they were installed, is not seen.
    """
    from otel_errcompact_lab.cli.hook_doctor import print_diagnosis

    raise typer.Exit(print_diagnosis(host, project, as_json=as_json))
