"""Texts that no format owns: whole while there is room, then head, tail and statements in their order."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.digest import NOTHING_SHOWN, DigestOptions, Situation, render_inline
from otel_errcompact.digest.ordered import fit_in_order, resolve_redraws
from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact.errors import RawError
from otel_errcompact.history.history import History
from tests.builders import classified, facts

WAY_BACK = "errcompact raw '#{key}'"
OPTIONS = DigestOptions(way_back=WAY_BACK)
ROWS = [f"row {number}: {' '.join(['value'] * 6)}" for number in range(400)]


class Agent:
    """Reads what failed calls give it, in one run."""

    def __init__(self, options: DigestOptions = OPTIONS, *, format: str = "prose") -> None:
        self.options = options
        self.facts = replace(facts(), format=format)
        self.history = History(max_classes=9)
        self.shown = NOTHING_SHOWN

    def read(self, text: str, command: str = "./report.sh", **of_error: object) -> str:
        error = RawError(text=text, tool="bash", arguments=command, **of_error)  # type: ignore[arg-type]
        made = self.history.record(error, classified(found=self.facts)).error_class
        digest = render_inline(error, made, self.shown, Situation(), options=self.options)
        self.shown = digest.shown
        return digest.text


def test_a_text_that_no_format_has_read_stays_whole() -> None:
    """Up to a thousand tokens, with the mark of its class behind it; no cause is claimed."""
    text = "\n".join(ROWS[:80])
    assert estimate_tokens(text) < 1_000
    assert Agent().read(text, exit_code=2) == f"{text}\n#3f2a (exit code 2)"


def test_a_longer_one_keeps_head_and_tail() -> None:
    """A third of the room for the head, two for the tail; one line says how much is gone, and how to get it."""
    text = Agent().read("\n".join(ROWS))
    *lines, mark = text.split("\n")
    at = next(number for number, line in enumerate(lines) if "left out" in line)
    assert lines[at] == f"... {400 - len(lines) + 1} lines left out: errcompact raw '#3f2a'"
    assert lines[:at] == ROWS[:at]
    assert lines[at + 1 :] == ROWS[-(len(lines) - at - 1) :]
    assert 1.5 * at < len(lines) - at < 3 * at
    assert mark == "#3f2a"
    assert estimate_tokens(text) < 1_050


def test_without_a_way_back_nothing_is_cut() -> None:
    """What the agent cannot get again stays, however long it is."""
    text = "\n".join(ROWS)
    assert Agent(DigestOptions()).read(text) == f"{text}\n#3f2a"


@pytest.mark.parametrize("chosen", ["./report.sh | grep row", "cat a nope", "$x = Get-Content a | Sort-Object; $x"])
def test_what_a_command_chose_to_show_has_twice_the_room(chosen: str) -> None:
    """`grep` has been asked for these lines, `cat` for these files."""
    text = "\n".join(ROWS[:150])
    assert Agent().read(text, chosen) == f"{text}\n#3f2a"
    assert "left out" in Agent().read(text, "./report.sh")


def test_a_statement_in_the_middle_stays_with_two_lines_around_it() -> None:
    """In a strict form, of a program or a shell; that a line speaks of errors is not enough."""
    lines = [*ROWS[:200], "error: no such table: orders", *ROWS[200:], "no error here"]
    text = Agent().read("\n".join(lines))
    assert "\n".join([*ROWS[198:200], "error: no such table: orders", *ROWS[200:202]]) in text
    assert text.count("left out") == 2


@pytest.mark.parametrize("command", ["cat a nope b", "pytest; cat log", "grep -n x a nope", "./report.sh; python x.py"])
def test_the_answer_beside_a_failure_stays(command: str) -> None:
    """Where another program has answered too, no format owns the text, whatever it has read in it."""
    text = "\n".join(ROWS[:80])
    assert Agent(format="python").read(text, command) == f"{text}\n#3f2a"


@pytest.mark.parametrize("command", ["python x.py", "cd a; pytest 2>&1 | tail", "pytest | Select-Object -Last 9", ""])
def test_a_format_owns_what_its_own_programs_print(command: str) -> None:
    """Then it may leave lines out, and says how many, and how to get them."""
    agent = Agent(format="pytest")
    agent.facts = replace(agent.facts, details=(*ROWS[:9], "... 20 more lines"))
    text = agent.read("\n".join(ROWS[:80]), command)
    assert text.startswith("[ConnectionError]")
    assert text.endswith("\n  ... 20 more lines: errcompact raw '#3f2a'")


@pytest.mark.parametrize(("format", "is_owned"), [("http", False), ("cargotest", True)])
def test_what_has_neither_tally_nor_stack_is_owned_only_by_its_own_programs(format: str, is_owned: bool) -> None:
    """A report in JSON may look like a server's answer; a tally of tests looks like nothing else."""
    text = Agent(format=format).read("\n".join(ROWS[:80]), "pnpm audit --json")
    assert text.startswith("[ConnectionError]") == is_owned


def test_the_same_call_with_the_same_text_is_one_line() -> None:
    """But for what differs between two runs of the same program: times."""
    agent = Agent()
    agent.read("\n".join([*ROWS[:80], "took 3.1 s"]), exit_code=2)
    assert agent.read("\n".join([*ROWS[:80], "took 4.7 s"]), exit_code=2) == "exit code 2 #3f2a again (x2)"


def test_a_measured_value_that_has_moved_is_shown() -> None:
    """It is progress, and the agent has not read it."""
    agent = Agent()
    agent.read("\n".join([*ROWS[:80], "score 11.0 of 12.5"]))
    assert "score 12.0 of 12.5" in agent.read("\n".join([*ROWS[:80], "score 12.0 of 12.5"]))


@pytest.mark.parametrize("format", ["prose", "pytest"])
def test_another_view_of_the_same_failure_is_shown(format: str) -> None:
    """Who asks for other lines reads them."""
    agent = Agent(format=format)
    agent.read("\n".join(ROWS))
    view = "\n".join(ROWS[300:330])
    assert agent.read(view, "./report.sh | sed -n 300,330p").startswith(view)


def test_what_a_tool_only_stated_is_cut_by_no_other_format() -> None:
    """Another format has read something in it: it may not be what failed."""
    text = "\n".join(ROWS[:90])
    assert Agent(format="pytest").read(text, stated="npm") == f"{text}\n#3f2a"


@pytest.mark.parametrize(("cut", "in_order"), [("", True), ("[... 200 lines truncated ...]\n", False)])
def test_a_text_that_was_read_in_part_stays_in_order(cut: str, in_order: bool) -> None:
    """What the tool counts and no rule has found stands in the text, unless somebody cut it out before."""
    agent = Agent(format="eslint")
    agent.facts = replace(agent.facts, members=9, unread=7)
    text = f"{cut}{chr(10).join(ROWS[:80])}\n9 problems"
    assert (agent.read(text, command="eslint .") == f"{text}\n#3f2a") == in_order


def test_lines_that_repeat_are_folded() -> None:
    """The first one stays, and the number of the others."""
    assert (
        fit_in_order("a\nwait\nwait\nwait\nb", 100, estimate_tokens, "") == "a\nwait\n... the same line 2 times more\nb"
    )
    assert fit_in_order("a\nwait\nwait\n\n\n\nb", 100, estimate_tokens, "") == "a\nwait\nwait\n\n\n\nb"


def test_what_a_terminal_draws_over_is_gone() -> None:
    """A bar of progress is what it was in the end."""
    assert resolve_redraws("get 1 %\rget 50 %\rget 100 %\r\ndone\r\n") == "get 100 %\ndone\n"


def test_a_line_longer_than_the_room_is_cut_in_its_middle() -> None:
    """It has no end of line to cut at."""
    text = fit_in_order("x" * 90_000, 300, estimate_tokens, "raw")
    assert estimate_tokens(text) <= 320
    assert text.startswith("xxx")
    assert text.endswith("xxx")
    assert "characters left out: raw ..." in text


def test_of_many_statements_those_that_fit_stay() -> None:
    """A quarter of the room is theirs; those that stand together share the lines around them."""
    lines = [f"error: {number} {'x' * 40}" if number % 60 < 2 else f"row {number} {'y' * 40}" for number in range(400)]
    text = fit_in_order("\n".join(lines), 1_000, estimate_tokens, "")
    assert [f"error: {number} " in text for number in (0, 1, 60, 61, 120, 121, 180)] == [True] * 6 + [False]
    assert text.count("left out") == 3
    assert estimate_tokens(text) < 1_050


@given(lines=st.lists(st.text("abc: error", max_size=60), min_size=1, max_size=400), limit=st.integers(100, 400))
def test_kept_lines_stand_in_their_order_within_the_limit(lines: list[str], limit: int) -> None:
    """Whatever the text: what is kept is a subsequence, every gap is marked, and the whole keeps to its tokens."""
    text = fit_in_order("\n".join(lines), limit, estimate_tokens, "")
    rest = iter(lines)
    kept = [line for line in text.split("\n") if not line.startswith("... ")]
    assert all(any(line == each for each in rest) for line in kept) or "characters left out" in text
    marks = text.count(" left out") + text.count("times more")
    assert estimate_tokens(text) <= limit + 12 * marks + 2
