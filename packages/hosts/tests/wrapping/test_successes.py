"""What ends with status 0 passes byte for byte behind `exec` and the shell prefix, in whatever line it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from otel_errcompact_hosts.wrapping.launcher import write_launcher
from packages.hosts.tests.wrapping.programs import Host
from packages.hosts.tests.wrapping.test_service import serving
from packages.hosts.tests.wrapping.test_shell_prefix import write_script
from tests.successes import SAMPLE, TEXTS, answer_with

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.programs

LINES = {
    "plain": "{} cat text",
    "both streams": "{} sh -c 'cat text >&2; cat text'",
    "substitution": 'x=$({} cat text; echo .); printf %s "$x"',
    "pipe": "{} cat text | cat",
    "merged pipe": "{} sh -c 'cat text >&2; cat text' 2>&1 | cat",
    "hidden": "{} sh -c '(cat text; exit 1) | cat'",
    "ignored": "{} sh -c '(cat text; exit 1) || true'",
    "background": "{} cat text & wait $!",
    "loop": "{} cat text | while IFS= read -r line; do printf '%s\\n' \"$line\"; done",
    "file": "{} cat text > made; cat made",
    "file of both": "{} sh -c 'cat text >&2; cat text' > made 2>&1; cat made",
    "process": "cat <({} cat text)",
}
"""Lines of an agent, with a place for what stands before a command."""


@pytest.fixture(params=SAMPLE)
def text(request: pytest.FixtureRequest, host: Host) -> str:
    (host.work / "text").write_text(SAMPLE[request.param], encoding="utf-8", newline="")
    return str(request.param)


@pytest.mark.usefixtures("text")
def test_a_success_passes_in_every_line(host: Host) -> None:
    """As without us: each stream, and the status."""
    wrapped = " ".join(host.wrap())
    changed = [name for name, line in LINES.items() if host.shell(line.format(wrapped)) != host.shell(line.format(""))]
    assert (changed, host.kept) == ([], [])


@pytest.mark.usefixtures("text")
def test_a_success_passes_behind_the_shell_prefix(host: Host) -> None:
    """Both streams are one, in a pipe as in the file that the host reads."""
    prefix = str(write_launcher(host.folder / "programs"))
    (host.work / "snapshots").mkdir()
    (host.work / "snapshots/snapshot-bash-1795749385120-97co5k.sh").touch()
    changed = []
    for name, line in LINES.items():
        script = write_script(line.format(""))
        expected = host.run("bash", "-c", script, merged=True)
        if host.run(prefix, script, merged=True) != expected:
            changed.append(name)
        with (host.folder / "task.output").open("wb") as file:
            assert host.start(prefix, script, stdout=file, stderr=file).wait(timeout=60) == expected.status
        if (host.folder / "task.output").read_bytes() != expected.output:
            changed.append(f"{name}, to a file")
    assert (changed, host.kept) == ([], [])


@pytest.mark.parametrize("form", [str, answer_with], ids=["alone", "in an answer"])
def test_a_success_passes_where_a_service_counts(host: Host, form: Callable[[str], str]) -> None:
    """It has no say in what is printed; of every format one text, in one run."""
    pytest.importorskip("fastapi")
    changed = []
    with serving(host):
        for name, text in SAMPLE.items():
            (host.work / "text").write_text(form(text), encoding="utf-8", newline="")
            if host.wrapped("cat text", options=("--run", "r")) != host.shell("cat text"):
                changed.append(name)
    assert changed == []


def test_a_success_of_every_text_passes(host: Host) -> None:
    """All of the corpus in one command."""
    text = "\n".join(each for texts in TEXTS.values() for each in texts.values())
    (host.work / "text").write_text(text, encoding="utf-8", newline="")
    assert host.wrapped("cat text >&2; cat text") == host.shell("cat text >&2; cat text")
