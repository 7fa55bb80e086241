"""`errcompact exec`: its help, and what the plain form does not take."""

from __future__ import annotations

from typing import Annotated, Final

import typer

EXEC_EPILOG: Final = """\
\b
Examples:
  errcompact exec -- pytest -q
  errcompact exec --run release-12 -- make test
  errcompact exec -- sh -c 'sort build.log | uniq -c'
  errcompact exec --hold 0 -- python -m http.server
  errcompact exec --raw -- pytest -q
\b
What is printed when:
  It succeeds      its output; that is held back until it has ended, for
                   ten seconds or 16 MiB at most
  It takes longer  what was held, and from then on all as it comes
  It fails         the digest, and the file with the whole output; behind
                   what was printed already, if that cannot be taken back
  To a terminal    everything, at once: nothing is captured
  The host's file  everything, at once; of a failure it is taken back
  One '> file'     that one, at once: only the other is replaced, and so
  or '| command'   for the next command of a line
  'x=$(...)' or    everything, at once: what the line keeps for itself
  '> file 2>&1'    is not replaced
\b
The exit status is the command's; a command that a signal ended
ends this one by the same signal. 127 is a command that was not found, 126
one that cannot be executed.
\b
Variables:
  OTEL_ERRCOMPACT_EXEC_HOLD_SECONDS  as --hold
  OTEL_ERRCOMPACT_EXEC_FOLDER        where outputs of failures are kept
  OTEL_ERRCOMPACT_RUN                as --run
  OTEL_ERRCOMPACT_SERVICE            the socket of the local service
  ERRCOMPACT=off                     run the command as if we were not here
"""


def execute(
    command: Annotated[list[str], typer.Argument(metavar="COMMAND ARG...", help="The command, behind '--'.")],
    *,
    run: Annotated[
        str,
        typer.Option(
            "--run", metavar="ID", help="The agent's run; by default the host's session, or the program that calls."
        ),
    ] = "",
    tool: Annotated[str, typer.Option("--tool", metavar="NAME", help="The tool that runs the command.")] = "",
    hold: Annotated[
        float | None,
        typer.Option("--hold", min=0, metavar="SECONDS", help="Hold output back for so long at most; 0: not at all."),
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Leave its output as it is, and do not report it.")] = False,
) -> None:
    """
    Run a command for an agent, with a digest if it fails.

    If its exit status is 0, everything is as without us, byte for byte. If not, a digest stands in place of its output,
    with the file that the whole output is in.

    Counts continue from one command to the next where the local service runs ('errcompact serve'); without it, each
    digest stands for itself.
    """
    from otel_errcompact_hosts.wrapping.executing import run_command

    run_command(command, run_id=run, tool=tool, hold_s=hold, raw=raw)
