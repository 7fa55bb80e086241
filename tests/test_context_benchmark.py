"""What the benchmark of compaction takes for a fact, and when it counts as kept."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from benchmarks.context import peer_runner
from benchmarks.context.__main__ import main, replayed
from benchmarks.context.baselines import Newest, ThreeLayers
from benchmarks.context.data import Run, from_claude_code, read_lists
from benchmarks.context.facts import cut_of, find_case, kept_facts, stands_in, strings_in
from benchmarks.context.measure import Score, fitting_users, measure_cut, measure_growing, tokens_of
from benchmarks.context.stand_in import extract
from otel_errcompact.digest.tokens import estimate_tokens, read_costs
from otel_errcompact_context import providers
from otel_errcompact_lab.transcripts import RecordedCall

pytestmark = pytest.mark.meta

ID = "credit_card_4421486"


def said(text: str) -> dict[str, Any]:
    """Return a message of the user."""
    return {"role": "user", "content": text}


def called(result: str = "done", **arguments: object) -> list[dict[str, Any]]:
    """Return a call and its result."""
    asked = {"id": "c", "type": "function", "function": {"name": "act", "arguments": json.dumps(arguments)}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": "c", "content": result},
    ]


def listed(
    *, task: str = "Help me.", early: list[Any] | None = None, late: list[Any] | None = None, after: list[Any] | None
) -> list[dict[str, Any]]:
    """Return a list of 16 messages: the task, 5 early ones, 6 later ones, and 4 after the cut."""
    parts = [(early or [], 5), (late or [], 6), (after or [], 4)]
    padded = [[*part, *[{"role": "assistant", "content": "Let me see."}] * (size - len(part))] for part, size in parts]
    return [said(task), *padded[0], *padded[1], *padded[2]]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("cat ./src/app/main.py | head", {"src/app/main.py"}, id="a path"),
        pytest.param("pay with credit_card_4421486.", {ID}, id="an id, not the full stop behind it"),
        pytest.param("mail mia.li3818@example.com", {"mia.li3818@example.com"}, id="an e-mail address"),
        pytest.param("https://example.com/a?b=1", {"https://example.com/a"}, id="a URL up to its query"),
        pytest.param("line 4096 of 120", {"4096"}, id="a number of four digits, none of three"),
        pytest.param("on 2024-05-20", {"2024-05-20"}, id="a date"),
        pytest.param("class OrderService uses repo.find_all", {"OrderService", "repo.find_all"}, id="names in code"),
        pytest.param("round trip for two", set(), id="plain words"),
        pytest.param("Silva", {"Silva"}, id="a whole value that is a name"),
        pytest.param("Nancy Silva", {"Nancy Silva"}, id="a whole value of two words"),
        pytest.param("42 apples\nand pears", set(), id="several lines are no name"),
        pytest.param("3.14", set(), id="a short number with a point"),
    ],
)
def test_strings_that_may_be_facts(value, expected):
    """Paths, ids, addresses, long numbers, names in code and whole short values, and no prose."""
    assert strings_in(value) == expected


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        pytest.param(listed(early=called(f"pays: {ID}"), after=called(payment=ID)), {ID}, id="met in a result"),
        pytest.param(listed(early=[said(f"Take {ID}.")], after=called(payment=ID)), {ID}, id="told by the user"),
        pytest.param(listed(task=f"Use {ID}", early=[said(ID)], after=called(payment=ID)), set(), id="in the task"),
        pytest.param(listed(early=called(payment=ID), after=called(payment=ID)), set(), id="only the agent wrote it"),
        pytest.param(listed(early=[said(ID)], late=[said(ID)], after=called(payment=ID)), set(), id="said again late"),
        pytest.param(listed(early=[said(ID)], late=called(a=ID), after=called(payment=ID)), set(), id="used late"),
        pytest.param(listed(late=[said(ID)], after=called(payment=ID)), set(), id="met late"),
        pytest.param(listed(early=[said(ID)], after=[*called(ID), *called(a=ID)]), set(), id="met after the cut"),
        pytest.param(listed(early=[said(ID)], after=called(f"pay {ID}?")), set(), id="never used"),
        pytest.param(listed(early=[said(f"{ID}0")], after=called(payment=ID)), set(), id="a part of another id"),
        pytest.param(listed(early=[said("the user_id")], after=called(user_id=7)), set(), id="the name of a field"),
        pytest.param(listed(early=[said(ID)], after=called(of=[{"id": ID}])), {ID}, id="deep in the arguments"),
    ],
)
def test_early_facts(messages, expected):
    """A fact is used after the cut, was met in the early half, and stands nowhere else."""
    assert find_case(messages).facts == expected


def test_what_the_system_prompt_says_is_no_fact():
    """It is sent with every request."""
    messages = listed(early=[said(ID)], after=called(payment=ID))

    assert find_case(messages, system=f"Never charge {ID}.").facts == frozenset()


def test_a_cut_never_parts_a_call_from_its_result():
    """It moves on to the next message of the agent, so that the list ends with what the model is to answer."""
    messages = [said("Go."), *called(), *called(), *called(), *called(), *called()]

    assert cut_of(messages) == 9  # int(0.75 * 11) is 8, which is the result of the fourth call
    assert find_case(messages).messages == messages[:9]


@pytest.mark.parametrize(
    ("made", "kept"),
    [
        pytest.param([said(f"[cut: {ID}, 3 files]")], {ID}, id="in a marker"),
        pytest.param(called(payment=ID), {ID}, id="in a call"),
        pytest.param([{"role": "user", "content": [{"type": "text", "text": ID}]}], {ID}, id="in a block"),
        pytest.param([said(ID[:-1])], set(), id="not whole"),
        pytest.param([said(f"{ID}7")], set(), id="in a longer one"),
    ],
)
def test_kept_facts(made, kept):
    """A fact is kept where the whole of it stands in the compacted list, wherever that is."""
    assert kept_facts({ID}, made) == kept


@pytest.mark.parametrize(
    ("text", "expected"), [("/src/a.py:12", True), ("a.py", True), ("data.py", False), ("a.pyc", False)]
)
def test_a_string_stands_where_no_word_goes_on(text, expected):
    """A path stands in a longer path, and not in a longer name."""
    assert stands_in("a.py", text) is expected


def test_users_messages_that_fit():
    """The newest first and each once, until one does not fit; the task, which always stays, is not counted."""
    messages = [said("task"), said("one two three"), said("no"), *called(), said("yes"), said("no")]

    assert fitting_users(messages, budget=1_000) == ["no", "yes", "one two three"]
    assert fitting_users(messages, budget=11) == ["no", "yes"]
    assert fitting_users(messages, budget=4) == []


class LastOnes:
    """Keeps the task and so many of the newest messages."""

    persists = True

    def __init__(self, count: int) -> None:
        self.count = count

    def compact(self, messages: list[Any]) -> list[Any]:
        """Return the list that is sent instead."""
        return [messages[0], *messages[1:][-self.count :]]


def test_a_candidate_is_scored_by_facts_tokens_and_limits(run_of):
    """Who keeps all has each fact and is over the window; who keeps the end alone has none, and fits."""
    run = run_of(listed(early=[said(ID)], after=called(payment=ID)))

    all_ = measure_cut([run], 0.25, lambda _: LastOnes(100))
    end = measure_cut([run], 0.25, lambda _: LastOnes(1))

    assert (all_.facts, all_.facts_kept, all_.over, all_.tokens_kept) == (1, 1, 1, all_.tokens)
    assert (end.facts, end.facts_kept, end.over, end.lost) == (1, 0, 0, [("r", ID)])
    assert end.tokens_kept < end.tokens // 4


def test_a_prefix_is_lost_where_an_earlier_message_changes(run_of):
    """Who only adds loses none; who drops the oldest at each request loses one at each but the first."""
    run = run_of([said("Go."), *called("a"), *called("b"), *called("c"), *called("d")])
    grown, dropped = Score(), Score()

    measure_growing([run], 1.0, lambda _: LastOnes(100), grown)
    measure_growing([run], 1.0, lambda _: LastOnes(2), dropped)

    assert (grown.requests, grown.prefixes_lost) == (4, 0)
    assert (dropped.requests, dropped.prefixes_lost) == (4, 2)


@pytest.fixture(name="run_of")
def _run_of():
    return lambda messages: Run(name="r", source="s", messages=messages)


def test_the_stand_in_keeps_rare_words_within_its_limit():
    """Of lines that are alike it keeps none before the one that holds what stands there once."""
    text = "\n".join(["nothing to see here at all"] * 5 + [f"the card on file is {ID} of the user"])

    assert extract(text, limit_tokens=15) == f"the card on file is {ID} of the user"
    assert extract(text, limit_tokens=3) == ""


LONG = [said("Go."), *[message for number in range(30) for message in called(f"{number:03} {'of many words ' * 40}")]]
"""A task and 30 calls with long results."""


def test_the_newest_messages_fit_and_keep_their_calls():
    """The task stays, and the list goes on with a call, never with a result alone."""
    made = Newest(window_tokens=1_000).compact(LONG)

    assert tokens_of(made) <= 800
    assert made[0] == LONG[0]
    assert made[1:] == LONG[-len(made[1:]) :]
    assert made[1]["role"] == "assistant"
    assert Newest(window_tokens=100).compact(LONG) == [LONG[0], *LONG[-2:]]
    assert Newest(window_tokens=100_000).compact(LONG) == LONG


def test_three_layers():
    """The middle becomes a line; all results but three do; and where that is too much, all is one summary."""
    roomy = ThreeLayers(window_tokens=100_000).compact(LONG)
    tight = ThreeLayers(window_tokens=500).compact(LONG)

    # A result that would have lost its call keeps it.
    assert roomy[3]["content"] == "[snipped 10 messages from the middle]"
    assert (len(roomy), roomy[4]["role"]) == (52, "assistant")
    assert [len(message["content"]) > 120 for message in roomy if message["role"] == "tool"] == [False] * 22 + [
        True
    ] * 3
    assert [message["role"] for message in tight] == ["user"]
    assert tokens_of(tight) <= 400


def test_peers_count_as_the_benchmark_does(monkeypatch):
    """The runner of the peers cannot import the estimator, so that it holds the same rule again."""
    monkeypatch.setattr(peer_runner, "COSTS", read_costs(0))
    messages = [said("Zürich, 東京 and 😀"), *called("4096 ROWS", path="/a/b", note="naïve"), said("ok")]

    assert peer_runner.count_messages(messages) == tokens_of(messages)


def test_a_peer_that_is_not_there_is_an_answer():
    """It is told in words, and the process goes on to the next question."""
    asked = {"run": "", "peer": "headroom", "window": 100, "limit": 10, "new": True, "messages": [said("Go.")]}
    lines = "".join(f"{json.dumps(question)}\n" for question in (asked, {}))

    done = subprocess.run(
        [sys.executable, "-I", peer_runner.__file__],
        input=lines,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    failed, versions = map(json.loads, done.stdout.splitlines())
    assert "No module named 'headroom'" in failed["error"]
    assert "headroom-ai" not in versions["versions"]


def test_parallel_calls_of_one_answer_are_one_message():
    """Claude Code writes a record for each block; blocks of one answer come together, with their results behind."""
    calls = [
        RecordedCall(tool="Read", call_id=name, result=name, start_ns=0, end_ns=1, line=1) for name in ("t1", "t2")
    ]

    def answered(block: dict[str, Any]) -> dict[str, Any]:
        return {"type": "assistant", "message": {"id": "m", "content": [block]}}

    rows = [
        {"type": "user", "message": {"content": "Go."}},
        answered({"type": "text", "text": "I read both."}),
        answered({"type": "tool_use", "id": "t1"}),
        {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t1", "content": "t1"}]}},
        answered({"type": "tool_use", "id": "t2"}),
        answered({"type": "tool_use", "id": "t3"}),
        {"type": "progress", "message": {"content": "not read"}},
    ]

    first, second, *results = from_claude_code(rows, calls)

    assert first == said("Go.")
    assert (second["content"], [call["id"] for call in second["tool_calls"]]) == ("I read both.", ["t1", "t2"])
    assert [(result["role"], result["content"]) for result in results] == [("tool", "t1"), ("tool", "t2")]


def test_lists_of_your_own_are_read_as_they_are(tmp_path):
    """A line is a list, short ones are left out, and a separator of lines within a text parts nothing."""
    messages = listed(early=called("two\u2028lines"), after=called(payment=ID))
    rows = [
        {"name": "shop/1", "source": "shop", "messages": messages, "system": "Be kind."},
        {"name": "shop/2", "source": "shop", "messages": messages, "score": 1},
        {"name": "shop/3", "source": "shop", "messages": messages[:15]},
    ]
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (tmp_path / "lists.jsonl").write_text(f"{lines}\n", encoding="utf-8")

    assert list(read_lists(tmp_path)) == [
        Run(name="shop/1", source="shop", messages=messages, system="Be kind.", is_own=True),
        Run(name="shop/2", source="shop", messages=messages, is_own=True),
    ]


@pytest.mark.parametrize("half", [[], ["--held-out"]])
def test_lists_of_your_own_are_measured_with_either_half(tmp_path, capsys, monkeypatch, half):
    """Ours is measured with each combination of a grid, and its row says which."""
    row = {"name": "shop/1", "source": "shop", "messages": listed(early=[said(ID)], after=called(payment=ID))}
    (tmp_path / "lists.jsonl").write_text(json.dumps(row), encoding="utf-8")
    grid = ["--grid", "target_share=[0.3, 0.6]", "--grid", "index_tokens=[0]"]
    monkeypatch.setattr(sys, "argv", ["context", *half, "--share", "2", *grid, "--", str(tmp_path)])

    assert main() == 0
    rows = [[cell.strip() for cell in line.split("|")] for line in capsys.readouterr().out.splitlines()[2:]]
    names = [f"otel-errcompact, target_share={share}, index_tokens=0" for share in (0.3, 0.6)]
    assert [row[2] for row in rows] == [name for kind in names for name in (kind, f"{kind}, summary")]
    assert {row[3] for row in rows} == {"1 of 1 (100%)"}


def test_the_replay_takes_some_runs_of_each_source():
    """Every twentieth of tau-bench, and of another source at most five."""
    runs = [
        Run(name=f"{source}/{number}", source=source, messages=[])
        for source, count in (("tau-bench", 41), ("shop", 12), ("office", 3))
        for number in range(count)
    ]

    taken = ["tau-bench/0", "tau-bench/20", "tau-bench/40", "shop/0", "shop/3", "shop/6", "shop/9"]
    assert [run.name for run in replayed(runs)] == [*taken, "office/0", "office/1", "office/2"]


def test_recorded_runs_are_lists_that_a_provider_takes(shared_data):
    """Every list begins with the user, each call is answered at once, and both halves have runs of each kind."""
    runs = list(read_lists(shared_data / "transcripts"))

    assert all(run.messages[0]["role"] == "user" for run in runs)
    read = [providers.read_list(run.messages, estimate_tokens, "openai-chat") for run in runs]
    assert {providers.find_problems(conversation) for conversation in read} == {()}
    kinds = {run.source for run in runs}
    assert len(kinds) == 4
    assert all({run.is_held_out for run in runs if run.source == kind} == {True, False} for kind in kinds)
