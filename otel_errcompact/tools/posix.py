"""Programs of every Unix system: calls and statuses."""

from __future__ import annotations

from typing import Final

from otel_errcompact.extract.command import Command
from otel_errcompact.extract.format import Tool

_SPEAKING: Final = (
    "awk cat chmod chown cp dd df diff dpkg du env find gpg grep gzip jq kill ln ls mkdir mount mv openssl patch rm "
    "rmdir rsync scp sed sort ssh su sudo systemctl tar touch umount unzip xargs zip, base64 basename bc bunzip2 "
    "chgrp cmp column comm crontab csplit cut date dig dirname egrep expr fd file gawk getent gunzip head install ip "
    "ldd less locale lsof mawk mktemp nc nohup objdump passwd pgrep ping pkill ps readlink realpath rg seq sftp split "
    "ssh-keygen stat strace sysctl tail tee timeout tr tree uniq useradd watch wc which xz yq"
)

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
        Command("journalctl, systemctl status, dmesg, tmux, history, man", reads=True),
        Command("chmod, chown, clear, cp, date, find, kill, ln, mkdir, mv, pkill, pwd, rm, touch, whoami", helps=True),
        # One row holds the names of all, also of those of which no more is known.
        Command("wait", prints="", helps=True, speaks=_SPEAKING),
        Command("ssh", prints="http", carries=True, values="-i -p -o -l -F -J -L -R -b -c -D -E", runs_any=True),
        Command("scp, rsync", prints="http"),
        Command("systemctl", prints="infra", subcommands="*"),
        Command("systemctl is-enabled, systemctl is-failed", answers=(1,)),
        Command("systemctl is-active", answers=(3, 4)),
        Command("dig", prints="infra"),
        Command("dpkg", prints="apt"),
    ),
)
