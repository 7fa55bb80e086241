"""Programs of every Unix system: calls and statuses."""

from __future__ import annotations

from typing import Final

from otel_errcompact.extract.command import Command
from otel_errcompact.extract.format import Tool

TOOL: Final = Tool(
    name="posix",
    commands=(
        Command("sudo", wraps=True, values="-u -g"),
        Command("env", wraps=True, values="-u -C"),
        Command("time", wraps=True, values="-f -o"),
        Command("timeout", wraps=True, values="-s -k --signal --kill-after", skips=1),
        Command("nice", wraps=True, values="-n"),
        Command("command", wraps=True, asks="-v -V"),
        Command("exec", wraps=True, values="-a"),
        Command("stdbuf", wraps=True, values="-i -o -e"),
        Command("xargs", wraps=True, values="-n -I -P -L -d"),
        Command("xvfb-run", wraps=True, values="-s"),
        Command("nohup", wraps=True),
        Command("watch, act", runs_any=True),
        # Status 1 of those that look something up is "nothing found": GNU grep and diff, `which(1)`, `getent(1)`.
        Command("grep", helps=True, reads=True, takes_script=True, texts="-A -B -C -m -e", answers=(1,)),
        Command("rg", helps=True, reads=True, takes_script=True, texts="-A -B -C -m -e -t -g", answers=(1,)),
        Command("egrep, fgrep, zgrep, ag, ack", reads=True, takes_script=True, answers=(1,)),
        Command("diff", reads=True, answers=(1,)),
        Command("which, type", helps=True, answers=(1,)),
        Command("fd, test, [, [[, whereis, pgrep, pidof, hash, expr, lsof, let, ((, cmp, comm, ps", answers=(1,)),
        Command("getent", answers=(2,)),
        Command("nc", waits=(1,)),
        Command("ls", helps=True, answers_in_silence=True),
        Command("sed", helps=True, reads=True, takes_script=True, texts="-e"),
        Command("awk, gawk", reads=True, takes_script=True, texts="-F -v"),
        Command("jq", reads=True, takes_script=True, texts="--arg", asks="-e --exit-status"),
        Command("yq", reads=True, takes_script=True),
        Command("head, tail", helps=True, reads=True, texts="-n -c"),
        Command("cat, tee, wc", helps=True, reads=True),
        Command("zcat, bat, less, more, sort, uniq, cut, tr, column, nl, strings", reads=True),
        Command("journalctl, dmesg, tmux, history, man", reads=True),
        Command(
            "chmod, chown, clear, cp, date, find, kill, ln, mkdir, mv, pkill, pwd, rm, touch, wait, whoami", helps=True
        ),
    ),
)
