"""What a marker never says: that something is settled, or open, which is not known to be."""

from __future__ import annotations

import pytest

from packages.context.tests.window.test_carrying import TASK, TRACEBACK, Steps, index_of, replaced


def said(*words: str) -> Steps:
    """What the user and the model say in turn, behind the task; `!` is a call without arguments."""
    steps = Steps()
    role = "user"
    for text in words:
        if text.startswith("!"):
            steps.call(text[1:], "ok")
        else:
            steps.say(role, text)
            role = "assistant" if role == "user" else "user"
    return steps


def block_of(steps: Steps) -> dict[str, str]:
    """The lines below the marker when all but the task and the newest words are cut."""
    return index_of(steps.say("user", "How many crates are there?"), 1, len(steps.messages) - 1)


@pytest.mark.parametrize("called", [pytest.param(True, id="after calls"), pytest.param(False, id="without calls")])
@pytest.mark.parametrize(
    ("asked", "reply"),
    [
        pytest.param("Who is on duty on Sunday, and who owns the meadow?", "Branka is on duty.", id="one sentence"),
        pytest.param("Book the hall. And find out what the band costs.", "The hall is booked.", id="two sentences"),
        pytest.param("Buch den Saal und frag nach dem Preis der Kapelle.", "Der Saal ist gebucht.", id="German"),
        pytest.param("1. Move the crates\n2. Count the ladders", "The crates are moved.", id="a list"),
        pytest.param("Delete the drafts; also rename the report.", "The drafts are deleted.", id="orders"),
    ],
)
def test_of_two_requests_no_line_says_that_both_were_answered(asked: str, reply: str, called: bool) -> None:
    """Which of them the reply covers is left to who reads the words."""
    block = block_of(said(asked, *(["!book"] if called else []), reply))
    shown = " ".join(asked.split())
    title = next(title for title, line in block.items() if line == f"{shown} -> {reply}")
    assert title in (["worked on"] if called else ["replied to", "statements of the user"])


@pytest.mark.parametrize(
    ("asked", "reply"),
    [
        pytest.param(
            "Rent out the old van.", "There are two, a Ford and a Fiat. Let me know which one.", id="a choice"
        ),
        pytest.param("Void the vouchers.", "That is final for all 73. I'll wait for your go-ahead.", id="a go-ahead"),
        pytest.param("Lösch die alten Scans.", "Es sind 126. Ich warte auf dein Ja.", id="German"),
        pytest.param("Pay the carpenter.", "Before I pay I need the amount from you.", id="what is missing"),
        pytest.param("删除旧的订单。", "一共有十二个。请确认后我再删除。", id="Chinese"),
    ],
)
def test_what_waits_for_the_user_s_word_is_not_said_to_be_answered(asked: str, reply: str) -> None:
    """Its words say that it waits, to their end; also in the turn before the newest words, and after other ones."""
    waits = said(asked, "!look", f"{reply}")
    waits.messages[3]["content"] = "shelf after shelf " * 40
    assert block_of(waits)["replied to"] == f"{asked} -> {reply}"
    waits.say("user", "What does a crate cost in the shop?").say("assistant", "Four euros.")
    assert block_of(waits)["replied to"].endswith(f" | {asked} -> {reply}")


LATER = [
    pytest.param(
        "The photos look terrible. Not now, but remind me before Easter to book a photographer.",
        "I will remind you before Easter.",
        "Now book Anna Baumann as the photographer for the photos.",
        "Anna Baumann is booked for April.",
        id="a reminder",
    ),
    pytest.param(
        "The certificate of the shop has to be renewed, but later.",
        "Later, then.",
        "Please renew the shop's certificate today.",
        "The certificate runs until 2027.",
        id="later",
    ),
    pytest.param(
        "Irgendwann müssen wir den Mietvertrag der Halle kündigen.",
        "Ich denke daran.",
        "Kündige jetzt den Mietvertrag.",
        "Der Mietvertrag endet im Mai.",
        id="German",
    ),
    pytest.param(
        "I want the backups in Oslo one day, no hurry with that.",
        "No hurry.",
        "Move the backups over to Oslo.",
        "All backups are in Oslo.",
        id="no hurry",
    ),
    pytest.param(
        "Hold the boat hire discount until my brother agrees.",
        "I hold it.",
        "My brother agrees, arrange the boat hire discount.",
        "The boat hire gives ten percent.",
        id="on hold",
    ),
]


ERRORS = [
    pytest.param("bash", {"command": "npm run build"}, "npm ERR! missing script: build\nexit code 1", "ok", id="npm"),
    pytest.param("get_order", {"id": "W-1"}, '{"error": "upstream timed out"}', '{"id": "W-1"}', id="JSON"),
    pytest.param("bash", {"command": "cat a.yml"}, "cat: a.yml: No such file or directory", "a: 1", id="cat"),
    pytest.param("print_list", {"to": "office"}, "Error: printer 'office' is offline (0x8007)", "printed", id="text"),
    pytest.param(
        "bash",
        {"command": "pytest tests/test_a.py"},
        "FAILED tests/test_a.py::test_x\n1 failed\nexit code 1",
        "3 passed",
        id="pytest",
    ),
]


@pytest.mark.parametrize(("tool", "arguments", "failure", "success"), ERRORS)
@pytest.mark.parametrize("rounds", [1, 3])
def test_an_open_error_stays_until_its_call_succeeds(tool, arguments, failure, success, rounds) -> None:
    """However often the list is cut; another call's success resolves nothing."""
    steps = Steps().call(tool, failure, **arguments)
    first = index_of(steps, 1, len(steps.messages))["open errors"]
    for _ in range(rounds):
        again = Steps()
        again.messages = [TASK, *replaced(steps, 1, len(steps.messages))]
        steps = again.call(tool, success, id="other", command="ls other").say("assistant", "I go on.")
        assert index_of(steps, 1, len(steps.messages))["open errors"] == first
    assert "open errors" not in index_of(steps.call(tool, success, **arguments), 1, len(steps.messages))


def test_of_a_class_the_calls_that_still_fail_are_carried() -> None:
    """With the message as long as it is theirs, and no count that is not known; beyond three they are the others."""
    steps = Steps()
    for name in "abcd":
        steps.call("bash", f"{TRACEBACK}'key'\nexit code 1", command=f"python {name}.py")
    first = index_of(steps, 1, len(steps.messages))["open errors"]
    head, counted, calls = first.partition(" x4")
    assert head.startswith("[KeyError] at total (shop.py:7): 'key' #")
    assert (counted, calls) == (" x4", " in bash python d.py; bash python c.py; bash python b.py; others")
    again = Steps()
    again.messages = [TASK, *replaced(steps, 1, len(steps.messages))]
    again.call("bash", "ok", command="python b.py")
    second = index_of(again, 1, len(again.messages))["open errors"]
    assert second == f"{head} in bash python d.py; bash python c.py; others"
    again.call("bash", "ok", command="python d.py")
    third = index_of(again, 1, len(again.messages))["open errors"]
    assert third == f"[KeyError] {head[-5:]} in bash python c.py; others"
    again.call("bash", "ok", command="python c.py")
    assert index_of(again, 1, len(again.messages))["open errors"] == f"[KeyError] {head[-5:]} in others"


def test_failures_of_several_cuts_are_added_up() -> None:
    """Two, and one more after the cut; a tool may have a blank in its name, and its success resolves them."""
    steps = Steps()
    for _ in range(2):
        steps.call("Print List", "Error: printer 'office' is offline (0x8007)", to="office")
    again = Steps()
    again.messages = [TASK, *replaced(steps, 1, len(steps.messages))]
    again.call("Print List", "Error: printer 'office' is offline (0x8007)", to="office")
    assert index_of(again, 1, len(again.messages))["open errors"].endswith(" x3 in Print List: office")
    last = Steps()
    last.messages = [TASK, *replaced(again, 1, len(again.messages))]
    last.call("Print List", "printed", to="office")
    assert "open errors" not in index_of(last, 1, len(last.messages))


def test_a_target_that_reads_as_the_call_of_another_tool_names_none() -> None:
    """The success of that tool would resolve what it has not touched."""
    steps = Steps().call("edit", "Error: String to replace not found in file.", path="x #1234 in parser")
    assert " in edit" not in replaced(steps, 1, len(steps.messages))[0]["content"]


@pytest.mark.parametrize(
    "arguments",
    [pytest.param({"path": "a; b.py"}, id="a semicolon"), pytest.param({"path": "x" * 300}, id="a long name")],
)
def test_a_call_that_does_not_read_the_same_again_is_not_named(arguments) -> None:
    """Nothing could be said to resolve it, and so its error is not carried."""
    steps = Steps().call("edit", "Error: String to replace not found in file.", new_string="y", **arguments)
    found = replaced(steps, 1, len(steps.messages))
    assert " in edit" not in found[0]["content"]
    again = Steps()
    again.messages = [TASK, *found]
    again.call("look", "ok")
    assert "open errors" not in index_of(again, 1, len(again.messages))


def test_an_error_between_two_cuts_is_older_than_what_follows_it() -> None:
    """A success before it resolves nothing."""
    failed = Steps().call("bash", "npm ERR! missing script: build\nexit code 1", command="npm run build")
    steps = Steps().call("bash", "ok", command="npm run build")
    steps.messages += replaced(failed, 1, len(failed.messages))
    assert index_of(steps, 1, len(steps.messages))["open errors"].endswith(" in bash npm run build")
    steps.call("bash", "ok", command="npm run build")
    assert "open errors" not in index_of(steps, 1, len(steps.messages))
