"""What users said in messages that are taken out: what waits stays, what was answered stands in one block."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_errcompact.config import ContextOptions
from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_context import providers
from otel_errcompact_context.memory.archive import MemoryArchive
from otel_errcompact_context.memory.markers import marker
from otel_errcompact_context.messages import Conversation, Message, Part
from otel_errcompact_context.window.layers import Workspace
from otel_errcompact_context.window.layers.carrying.index import render_index
from otel_errcompact_context.window.layers.carrying.replacement import Gone, replace_messages
from otel_errcompact_context.window.layers.carrying.words import Words, keep_words, read_words
from otel_errcompact_context.window.layers.reactive import reactive
from otel_errcompact_context.window.pairs import followers_of, is_gap
from packages.context.tests.conversations import FORMATS, LISTS_PER_LAW, Call, Step, Turn, told

Said = tuple[str, str]


def message(role: Any, said: str) -> Message:
    """A text, or with `!` a call of a tool or its result."""
    if not said.startswith("!"):
        return Message(role, (Part("text", said, len(said)),), len(said) + 4)
    name = said[1:]
    return Message(role, (Part("call" if role == "assistant" else "result", "{}", 1, "sql", name),), 5)


def listed(*said: Said) -> Conversation:
    return Conversation(format="openai-chat", messages=tuple([message(role, text) for role, text in said]))


def read(*said: Said, start: int = 0, end: int | None = None) -> Words:
    """What is read of messages; of all by default."""
    conversation = listed(*said)
    return read_words(conversation, start, len(said) if end is None else end, estimate_tokens)


def texts(words: Words) -> list[str]:
    return [kept.parts[0].text for kept in words.kept]


DROP = ("user", "Drop the staging database now and rebuild it from the dump.")
CALLED = (("assistant", "!1"), ("tool", "!1"))
DONE = ("assistant", "Done: staging was dropped and rebuilt.")


# Requests.


def test_an_answered_request_stands_in_the_block_with_its_answer():
    """It is no open turn of the user any more; what was done stands before what was asked."""
    words = read(DROP, *CALLED, DONE, ("user", "What does file 2 say?"), ("assistant", "It is about orders."))
    assert texts(words) == []
    assert render_index(words.sections, 1_000, estimate_tokens) == (
        "worked on: Drop the staging database now and rebuild it from the dump. -> "
        "Done: staging was dropped and rebuilt.\n"
        "replied to: What does file 2 say? -> It is about orders."
    )


@pytest.mark.parametrize(
    "after",
    [
        pytest.param((), id="no word"),
        pytest.param(CALLED, id="calls alone"),
        pytest.param((("assistant", "I look into it."), *CALLED), id="calls follow what was said"),
    ],
)
def test_a_request_without_an_answer_stays_to_the_letter(after):
    """The very message."""
    conversation = listed(DROP, *after)
    words = read_words(conversation, 0, len(conversation.messages), estimate_tokens)
    assert words.sections == {}
    assert len(words.kept) == 1
    assert words.kept[0] is conversation.messages[0]


def test_a_request_that_work_went_on_from_is_not_said_to_be_answered():
    """The user spoke again before the model did: nothing claims that it was done."""
    words = read(DROP, *CALLED, ("user", "Wait."), ("user", "What does file 2 say?"))
    assert words.sections == {"worked on": [DROP[1]]}
    assert texts(words) == ["Wait.", "What does file 2 say?"]


@pytest.mark.parametrize(
    ("behind", "sections"),
    [
        pytest.param((DONE,), {"worked on": [f"{DROP[1]} -> {DONE[1]}"]}, id="the answer"),
        pytest.param((("assistant", "!2"), ("tool", "!2"), DONE), {"worked on": [f"{DROP[1]} -> {DONE[1]}"]},
                     id="work and the answer"),
        pytest.param((("assistant", "!2"), ("tool", "!2")), {}, id="work alone"),
        pytest.param((("user", "Hm."),), {"worked on": [DROP[1]]}, id="the user"),
        pytest.param((("user", marker("summary", "9 messages, 9 tokens", "memory:1")), DONE), {}, id="what is cut"),
        pytest.param((("system", "Be short."), DONE), {"worked on": [f"{DROP[1]} -> {DONE[1]}"]}, id="system"),
    ],
)  # fmt: skip
def test_the_answer_may_stand_in_what_stays(behind, sections):
    """A list is cut in the middle of turns, too."""
    words = read(DROP, *CALLED, *behind, end=3)
    assert words.sections == sections
    assert texts(words) == ([] if sections else [DROP[1]])


def test_the_request_before_what_goes_is_named_with_its_answer():
    """It stays where it is, and would else look open for good."""
    words = read(DROP, *CALLED, DONE, ("user", "And file 2?"), start=1)
    assert words.sections == {
        "worked on": ["Drop the staging database now and rebuild it from the dump. -> " + DONE[1]]
    }
    assert texts(words) == ["And file 2?"]
    assert read(DROP, ("user", "And file 2?"), ("assistant", "Orders."), start=1).sections == {
        "replied to": ["And file 2? -> Orders."]
    }
    assert read(DROP, *CALLED, ("user", "And file 2?"), start=1).sections == {}
    assert texts(read(DROP, *CALLED, start=1)) == []


def test_words_beside_results_belong_to_their_turn():
    """Anthropic's user messages hold both; the results go."""
    steered = Message("user", (Part("result", "a long result", 9, "sql", "1"), Part("text", "With tabs.", 3)), 16)
    alone = message("user", "!2")
    open_turn = listed(DROP, ("assistant", "!1"), ("assistant", "!2"))
    messages = (*open_turn.messages[:2], steered, open_turn.messages[2], alone)
    words = read_words(Conversation(format="anthropic", messages=messages), 0, 5, estimate_tokens)
    assert words.sections == {}
    assert texts(words) == [DROP[1], "With tabs."]
    messages = (*messages, message("assistant", "Done."))
    words = read_words(Conversation(format="anthropic", messages=messages), 0, 6, estimate_tokens)
    assert words.sections == {"worked on": [f"{DROP[1]} With tabs. -> Done."]}


def test_a_picture_is_a_request_without_a_text():
    """A result beside a picture is none."""
    picture = Message("user", (Part("other", "", 100),), 104)
    shot = Message("user", (Part("result", "", 1, "look", "1"), Part("other", "", 100)), 105)
    blank = message("user", " ")
    messages = (picture, message("assistant", "A cat."), shot, blank, picture)
    words = read_words(Conversation(format="anthropic", messages=messages), 0, 5, estimate_tokens)
    assert words.sections == {"worked on": ["(no text) -> A cat."]}
    assert words.kept == [picture]


def test_of_a_shortened_text_its_marker_says_nothing():
    """What is left of the user's words stands below it; a file that was put back is nobody's word."""
    line = marker("reactive", "5,000 tokens of user text", "memory:2")
    file = marker("reactive", "file a.py, as last read, 12 tokens", "memory:1")
    assert read(("user", f"{line}\nDrop it."), ("user", f"{file}\ncode"), DONE).sections == {
        "replied to": [f"Drop it. -> {DONE[1]}"]
    }


def test_arrows_and_bars_in_words_part_no_entries():
    """They would be read as an answer in the next compaction."""
    words = read(("user", "Rename a -> b | c"), ("assistant", "a -> b"))
    assert render_index(words.sections, 1_000, estimate_tokens) == "replied to: Rename a > b / c -> a > b"


def gap(*lines: str) -> Said:
    return ("user", "\n".join([marker("snip", "9 messages, 900 tokens", "memory:1"), *lines]))


def test_a_second_compaction_takes_the_block_of_the_first_along():
    """The entries, the newest first; its marker goes."""
    block = (
        "statements of the user: Never touch prod.env.",
        "replied to: File 2? -> Orders. | File 1? -> Names.",
    )
    words = read(gap(*block, "names: a1b2"), ("user", "Always in German. File 3?"), ("assistant", "Dates."))
    assert words.sections == {
        "statements of the user": ["Always in German.", "Never touch prod.env."],
        "replied to": ["Always in German. File 3? -> Dates.", "File 2? -> Orders.", "File 1? -> Names."],
    }
    assert read(DROP, gap(*block), DONE, start=2, end=3).sections == {}


def test_a_request_before_what_was_cut_is_looked_for_in_the_block():
    """Whose beginning stands there was answered; who else spoke before the cut waits on."""
    named = gap(f"replied to: {DROP[1][:59]} -> Done.")
    words = read(DROP, *CALLED, named, ("user", "File 3?"), ("assistant", "Dates."))
    assert words.sections == {"replied to": ["File 3? -> Dates.", f"{DROP[1]} -> Done."]}
    words = read(DROP, *CALLED, gap(), ("assistant", "!2"), ("tool", "!2"))
    assert texts(words) == [DROP[1]]
    assert read(DROP, *CALLED, gap(), DONE).sections == {"worked on": [f"{DROP[1]} -> {DONE[1]}"]}


# Answers.


def test_answers_hold_questions_only():
    """With the short answer of the user and what came of it; no statement, no request, no long answer."""
    words = read(
        DROP,
        ("assistant", "Shall I really delete it? 🙂"),
        ("user", "Yes, delete it."),
        ("assistant", "Deleted. File 12 is about orders."),
        ("user", "Show file 13."),
        ("assistant", "这是文件 13。还要别的吗\uff1f"),
        ("user", "Which is the largest?"),
        ("assistant", "File 3. Shall I pay?"),
        ("user", "No, and that is because the card is not mine and my brother must be asked before"),
        ("assistant", "Good."),
    )
    assert words.sections == {
        "answers": [
            (
                f"{DROP[1]} -> Shall I really delete it? 🙂 -> answered: Yes, delete it. -> "
                "Deleted. File 12 is about orders."
            ),
        ],
        "statements of the user": [
            "No, and that is because the card is not mine and my brother must be asked before -> Good.",
        ],
        "replied to": [
            "Which is the largest? -> File 3. Shall I pay?",
            "Show file 13. -> 这是文件 13。还要别的吗\uff1f",
        ],
    }
    assert texts(words) == []


def test_an_answer_that_work_goes_on_from_stays_with_its_question():
    """A yes means nothing alone."""
    words = read(DROP, ("assistant", "Really?"), ("user", "Yes."), *CALLED)
    assert texts(words) == ["asked: Really? -> answered: Yes."]
    words = read(("assistant", "Really?"), ("user", "Yes."), ("system", "Be short."))
    assert texts(words) == ["asked: Really? -> answered: Yes.", "Be short."]
    assert texts(read(("assistant", "Really?"), ("user", "Yes."), gap(), ("user", "No."))) == ["Yes.", "No."]
    shown = Message("user", (Part("text", "Yes.", 1), Part("other", "", 100)), 105)
    with_picture = Conversation(format="openai-chat", messages=(message("assistant", "Really?"), shown))
    assert read_words(with_picture, 0, 2, estimate_tokens).kept == [shown]
    long = f"{'x' * 500} Really?"
    assert texts(read(("assistant", long), ("user", "Yes."))) == [
        f"asked: {'x' * 90} ... {long[-30:]} -> answered: Yes."
    ]


@pytest.mark.parametrize(
    ("tool", "asks"),
    [
        pytest.param("ask_user", True, id="ask_user"),
        pytest.param("AskUserQuestion", True, id="AskUserQuestion"),
        pytest.param("ask_followup_question", True, id="ask_followup_question"),
        pytest.param("request_user_input", True, id="request_user_input"),
        pytest.param("task_users", False, id="task_users"),
        pytest.param("ask_docs", False, id="ask_docs"),
    ],
)
def test_tools_that_ask_the_user(tool, asks):
    """Their result is the user's answer."""
    call = Part("call", '{"question": "Which host?"}', 9, tool, "1")
    messages = (
        message("user", "Deploy."),
        Message("assistant", (call,), 13),
        Message("tool", (Part("result", "db-7", 2, "", "1"),), 6),
    )
    words = read_words(Conversation(format="openai-chat", messages=messages), 0, 3, estimate_tokens)
    assert words.sections == ({"answers": ['asked: {"question": "Which host?"} -> answered: db-7']} if asks else {})
    outside = read_words(Conversation(format="openai-chat", messages=messages), 0, 1, estimate_tokens)
    assert outside.sections == {}


# Rules.


@pytest.mark.parametrize(
    ("said", "rules"),
    [
        pytest.param("Drop it.\nNever touch it. Rest.", ["Never touch it."], id="never"),
        pytest.param("Antworte immer auf Deutsch!", ["Antworte immer auf Deutsch! -> OK."], id="German"),
        pytest.param("请看文件。不要改生产环境。", ["不要改生产环境。"], id="Chinese"),
        pytest.param("Please don't rebook", ["Please don't rebook -> OK."], id="a request not to"),
        pytest.param(f"Never rest. {'x' * 300}", ["Never rest."], id="a long one"),
        pytest.param(f"{'Drop it. ' * 15}How many?", [], id="an order that was carried out, before a question"),
        pytest.param("I don't know", [], id="a statement"),
        pytest.param("Why does it always fail?", [], id="a question"),
        pytest.param("Never mind.", [], id="never mind"),
        pytest.param(f"always {'x' * 300}", [], id="no sentence"),
    ],
)  # fmt: skip
def test_rules_have_a_line_of_their_own(said, rules):
    """In the user's own words; one that is the whole request has what came of it, others stand in the request too."""
    words = read(("user", said), *CALLED, ("assistant", "OK."))
    assert words.sections.pop("statements of the user", []) == rules
    assert len(words.sections.get("worked on", [])) == (rules != [f"{said} -> OK."])


def test_who_says_much_before_a_question_wants_it_known():
    """With the rules in it, and with the answer; not where something was asked before."""
    said = f"{'Dogs stay. ' * 14}Never let them in."
    words = read(("user", f"{said} How many are there?"), ("assistant", "Two."))
    assert words.sections == {
        "statements of the user": [f"{said} -> Two.", "Never let them in."],
        "replied to": ["How many are there? -> Two."],
    }
    assert "statements of the user" not in read(("user", "Is it? " * 30), ("assistant", "Yes.")).sections


def test_a_failure_is_no_change():
    """Nothing says that calls have answered the request, nor where the model has asked back."""
    failed = (("assistant", "!1"), ("tool", "Error: permission denied"))
    assert [*read(DROP, *failed, ("assistant", "I may not.")).sections] == ["replied to"]
    asked = read(DROP, *CALLED, ("assistant", "Shall I drop the next one?"), ("user", "And file 2?"), end=4)
    assert [*asked.sections] == ["replied to"]


@pytest.mark.parametrize(
    ("said", "answer", "statements"),
    [
        pytest.param(
            "Amounts in francs, with two decimals.", "Noted.", ["Amounts in francs, with two decimals."], id="noted"
        ),
        pytest.param(
            f"Minutes of today. {'The crate stands in bay 4. ' * 20}Above 2,500 I decide.",
            "Understood: above 2,500 you decide.",
            ["Minutes of today."],
            id="a long one with the answer, which says what counts",
        ),
        pytest.param("How many bays are there in the hall?", "Seven.", [], id="a question"),
        pytest.param("Tell me all of the third hall.", "It has seven bays. " * 20, [], id="a long answer"),
        pytest.param("Drop the old staging database.", "Really drop it?", [], id="a question back"),
        pytest.param("Thanks!", "My pleasure.", [], id="too short to say anything"),
    ],
)
def test_what_needs_no_call_but_a_word_is_a_statement(said, answer, statements):
    """In any language: the model is to know it from then on."""
    words = read(("user", said), ("assistant", answer))
    found = words.sections.get("statements of the user", [])
    assert [one.startswith(begin) for one, begin in zip(found, statements, strict=True)] == [True] * len(statements)
    waits = [kept.parts[0].text for kept in words.kept] == [said]
    assert waits == answer.startswith("Really")
    assert ("replied to" in words.sections) is not (bool(statements) or waits)
    assert all(answer in one for one in found if len(said) > 300)


def test_rules_come_first_and_are_shortened_before_they_go():
    """The newest are kept longest."""
    said = [(("user", f"Never touch host number {number} of the {'old ' * 20}cluster."), ("assistant", "OK."))
            for number in range(6)]  # fmt: skip
    words = read(*[one for pair in said for one in pair])
    whole = render_index(words.sections, 1_000, estimate_tokens)
    assert whole.startswith("statements of the user: Never touch host number 5 of the old old ")
    assert "number 0 of" in whole
    small = render_index(words.sections, 65, estimate_tokens)
    assert small.startswith(
        "statements of the user: Never touch host number 5 of the old ... -> OK. | Never touch host number 4"
    )
    least = render_index(words.sections, 40, estimate_tokens)
    assert least == (
        "statements of the user: Never touch host number 5 of the old ... -> OK. | "
        "Never touch host number 4 of the old ... -> OK. | +4 more"
    )


def test_a_request_that_the_model_asked_back_for_still_waits():
    """What stands before the cut stays there, and is not said to be answered."""
    asked = ("user", "Build the importer."), ("assistant", "Which bank first?"), ("user", "Ours."), *CALLED
    assert "replied to" not in read(*asked, start=1).sections


# Budgets.


def test_entries_of_a_section_are_shortened_together_before_one_goes():
    """To forty characters of what was said and thirty of the answer; the oldest go then."""
    words = read(
        *[
            one
            for number in range(5)
            for one in (("user", f"{number} {'ask ' * 30}?"), ("assistant", f"{number} {'say ' * 30}."))
        ]
    )
    for budget in range(60, 400, 10):
        line = render_index(words.sections, budget, estimate_tokens)
        entries = line.removeprefix("replied to: ").split(" | ")
        if entries[-1].endswith(" more"):
            assert {len(entry) for entry in entries[1:-1]} <= {40 + 4 + 30}
        else:
            assert [entry[0] for entry in entries] == ["4", "3", "2", "1", "0"]
            assert max(map(len, entries)) - min(map(len, entries)) <= 90


def test_what_is_worth_less_goes_first():
    """Questions, then what was done; statements are last, but for a fifth of the room, and read well before that."""
    turns = [
        (("user", f"The third crate of bay {number} is mine, and is not for sale."), ("assistant", "Noted."))
        for number in range(4)
    ]
    turns += [
        (("user", f"Scrap lot {number}."), *CALLED, ("assistant", f"Lot {number} is gone.")) for number in range(4)
    ]
    turns += [(("user", f"How large is lot {number}?"), ("assistant", f"Of {number} crates.")) for number in range(4)]
    words = read(*[one for turn in turns for one in turn])
    shown = [render_index(words.sections, budget, estimate_tokens) for budget in (300, 160, 110, 60)]
    for line in shown[:3]:
        assert line.count("is mine, and is not for sale. -> Noted.") == 4
    assert [line.count(" crates.") for line in shown] == [4, 2, 0, 0]
    assert [line.count(" is gone.") for line in shown] == [4, 4, 1, 0]
    assert shown[3].count("The third crate of bay") == 2


def test_a_long_request_loses_its_middle():
    """What is wanted of it may stand at its end."""
    words = read(("user", f"{'data ' * 1_000}What is this?"), ("assistant", "Data."))
    (entry,) = words.sections["replied to"]
    assert entry.startswith("data data ")
    assert entry.endswith("data What is this? -> Data.")
    assert len(entry) == 2_013


def test_the_system_s_words_come_first_and_what_waits_is_shortened():
    """Words of which too little would be left are passed over for older ones."""
    said = [("system", "Rule. " + "r" * 60), ("user", "oldest"), ("user", "long " + "l" * 4_000)]
    words = read(*said)._replace(request=-1)
    assert [one.role for one in keep_words(words, 5_000, 5_000, len)[0]] == ["system", "user", "user"]
    kept, _ = keep_words(words, 300, 5_000, len)
    assert [one.role for one in kept] == ["system", "user"]
    assert kept[1].parts[0].text.startswith("long lll")
    assert "characters cut" in kept[1].parts[0].text
    assert [one.parts[0].text for one in keep_words(words, 85, 5_000, len)[0]] == [said[0][1], "oldest"]
    assert keep_words(words, 0, 5_000, len) == ([], 0)


def test_the_newest_request_has_three_quarters_of_what_is_left():
    """Whatever the share of words is: nothing else says what the user waits for."""
    words = read(("user", "older " + "o" * 60), ("user", "newest " + "n" * 4_000))
    kept, left = keep_words(words, 0, 6_000, len)
    assert ([one.parts[0].text for one in kept], left) == (["newest " + "n" * 4_000], 0)
    ((shown,), _) = keep_words(words, 0, 400, len)
    assert shown.parts[0].text.startswith("newest nnn")
    assert "characters cut" in shown.parts[0].text
    assert 250 <= shown.tokens <= 300
    assert [one.parts[0].text[:6] for one in keep_words(words, 100, 6_000, len)[0]] == ["older ", "newest"]


def test_what_waits_leaves_room_for_the_block():
    """A quarter, if anything has been answered."""
    words = read(("user", "One?"), ("assistant", "Yes."), ("user", "x" * 400))
    kept, left = keep_words(words._replace(request=-1), 300, 5_000, len)
    assert sum(one.tokens for one in kept) <= 225
    assert left >= 75


@pytest.mark.parametrize("format", FORMATS)
def test_rules_have_room_where_the_newest_turn_takes_the_target(format):
    """Its result is shortened after that; the user's words could not be had back."""
    calls = (Call(result="row 1 of the table\n" * 2_000),)
    turns = (
        Turn("Look after the shop.", (Step(text="I do."),)),
        Turn("Never touch prod.env.", (Step(calls=(Call(result="row\n" * 500),)), Step(text="OK."))),
        Turn("File 2?", (Step(calls=calls),)),
    )
    space = Workspace(
        archive=MemoryArchive(),
        options=ContextOptions(window_tokens=4_000, reserve_tokens=0),
        count_tokens=estimate_tokens,
        target_tokens=2_000,
    )
    made = reactive(providers.read_list(told(format, turns), estimate_tokens, format), space).conversation
    assert made.tokens <= 2_000
    assert made.messages[1].parts[0].text.split("\n")[1] == "statements of the user: Never touch prod.env. -> OK."


def test_no_words_if_the_options_say_so():
    """`words_share` is for the block as well."""
    conversation = listed(DROP, *CALLED, DONE)
    options = ContextOptions(words_share=0, index_tokens=0, restore_files=0)
    space = Workspace(archive=MemoryArchive(), options=options, count_tokens=estimate_tokens, target_tokens=9_000)
    (made,) = replace_messages(
        conversation,
        Gone(0, 4, "memory:gone", read_words(conversation, 0, 4, estimate_tokens)),
        "reactive",
        9_000,
        space,
    )
    assert made.parts[0].text == "[errcompact reactive: 4 messages, 115 tokens; whole: memory:gone]"


# Laws.


def working(number: int, answer: str, steps: int) -> Turn:
    calls = (Call(arguments={"path": f"/srv/{number}"}, result=f"row {number}\n" * 60),)
    said = (Step(text=answer),) if answer else ()
    return Turn(f"Request {number}: drop table {number}.", (*[Step(calls=calls)] * steps, *said))


TURNS = st.lists(st.tuples(st.booleans(), st.integers(1, 3)), min_size=3, max_size=9)


@settings(max_examples=LISTS_PER_LAW)
@given(format=st.sampled_from(FORMATS), drawn=TURNS, target=st.integers(500, 1_500), again=TURNS)
def test_what_is_answered_is_no_turn_and_what_waits_is_one(format, drawn, target, again) -> None:
    """In every format, and in a second compaction as well, which leaves one block."""
    space = Workspace(
        archive=MemoryArchive(),
        options=ContextOptions(words_share=0.5, restore_files=0),
        count_tokens=estimate_tokens,
        target_tokens=target,
    )
    turns = [working(number, f"Answer {number}." if ends else "", steps) for number, (ends, steps) in enumerate(drawn)]
    first = told(format, tuple(turns))
    once = reactive(providers.read_list(first, estimate_tokens, format), space).conversation
    check_words(once, turns)
    more = [working(number, f"Answer {number}." if ends else "", steps)
            for number, (ends, steps) in enumerate(again, len(turns))]  # fmt: skip
    grown = [*providers.write_list(once), *told(format, (*turns, *more))[len(first) :]]
    twice = reactive(providers.read_list(grown, estimate_tokens, format), space).conversation
    check_words(twice, [*turns, *more])


def check_words(made: Conversation, turns: list[Turn]) -> None:
    """What must hold of the words of all turns but the first, the task."""
    assert providers.find_problems(made) == ()
    gaps = [place for place, one in enumerate(made.messages) if is_gap(one)]
    if not gaps:
        return
    (gap,) = gaps
    behind = gap + 1 + followers_of(made.messages[gap])
    lines = dict(line.partition(": ")[::2] for line in made.messages[gap].parts[0].text.split("\n"))
    carried = [one.parts[0].text for one in made.messages[gap + 1 : behind]]
    stay = "\n".join(part.text for one in made.messages[behind:] for part in one.parts)
    for number, turn in enumerate(turns[1:], 1):
        if turn.user in stay:
            continue
        answer = turn.steps[-1].text
        is_open = not answer and number == len(turns) - 1
        assert carried.count(turn.user) == is_open
        if not is_open:
            line = lines["replied to" if answer else "worked on"]
            assert (f"{turn.user} -> {answer}" if answer else turn.user) in line or line.endswith(" more")
