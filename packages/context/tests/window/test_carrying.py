"""What stays of messages that are taken out: an index, the users' words, and the newest files."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from otel_errcompact.config import ContextOptions
from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_context import providers
from otel_errcompact_context.memory.archive import MemoryArchive
from otel_errcompact_context.memory.markers import marker
from otel_errcompact_context.messages import Conversation, Message, Part
from otel_errcompact_context.window.layers import Workspace
from otel_errcompact_context.window.layers.carrying.actions import Action, find_actions
from otel_errcompact_context.window.layers.carrying.index import read_index, render_index
from otel_errcompact_context.window.layers.carrying.names import MAX_TEXT, NameUse, names_in, split_text
from otel_errcompact_context.window.layers.carrying.replacement import Gone, is_carried, replace_messages
from otel_errcompact_context.window.layers.carrying.survey import known_of, survey_messages
from otel_errcompact_context.window.layers.carrying.words import read_words
from otel_errcompact_context.window.layers.micro import micro
from otel_errcompact_context.window.layers.reactive import reactive
from otel_errcompact_context.window.pairs import cut_points, describe_followers, followers_of

TASK = {"role": "user", "content": "Mend the parser."}


class Steps:
    """A list of OpenAI chat, call by call."""

    def __init__(self) -> None:
        self.messages: list[Any] = [TASK]

    def call(self, tool: str, result: Any, **arguments: Any) -> Steps:
        """A call and its result."""
        number = len(self.messages)
        asked = {"name": tool, "arguments": json.dumps(arguments)}
        call = {"id": f"c{number}", "type": "function", "function": asked}
        self.messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": result},
        ]
        return self

    def say(self, role: str, content: str) -> Steps:
        """A message without calls."""
        self.messages.append({"role": role, "content": content})
        return self


def workspace(archive: MemoryArchive | None = None, target: int = 100_000, **options: Any) -> Workspace:
    return Workspace(
        archive=archive or MemoryArchive(),
        options=ContextOptions(**options),
        count_tokens=estimate_tokens,
        target_tokens=target,
    )


def read(messages: list[Any]) -> Conversation:
    return providers.read_list(messages, estimate_tokens, "openai-chat")


def replaced(steps: Steps, start: int, end: int, budget: int = 100_000, **more: Any) -> list[Any]:
    """What takes the place of some messages, as the provider has it."""
    conversation = read(steps.messages)
    space = more.pop("space", None) or workspace(**more)
    gone = Gone(start, end, "memory:gone", read_words(conversation, start, end, estimate_tokens))
    made = replace_messages(conversation, gone, "reactive", budget, space)
    return providers.write_list(Conversation(format="openai-chat", messages=made))


def index_of(steps: Steps, start: int, end: int, **more: Any) -> dict[str, str]:
    """The sections of the index below the marker."""
    lines = replaced(steps, start, end, **more)[0]["content"].split("\n")[1:]
    return dict(line.split(": ", 1) for line in lines)


# The place of messages.


def test_no_list_is_cut_between_a_marker_and_what_follows_as_its_own():
    """The marker counts them."""
    what = f"9 messages, 900 tokens{describe_followers(2)}"
    messages = read(
        [
            TASK,
            {"role": "user", "content": marker("snip", what, "memory:1")},
            {"role": "user", "content": "One."},
            {"role": "user", "content": "Two."},
            {"role": "assistant", "content": "Done."},
        ]
    ).messages
    assert followers_of(messages[1]) == 2
    assert cut_points(messages) == [0, 1, 4, 5]
    assert cut_points(messages[:3]) == [0, 1, 3]
    assert describe_followers(1) == "; the next 1 is from them"
    assert describe_followers(0) == ""
    assert is_carried(messages[1:4])
    assert not is_carried(messages[1:])


# The index.


def test_the_index_names_files_commands_and_calls():
    """By what the arguments' names say; what failed says so."""
    steps = Steps().call("view", "code", path="src/a.py").call("edit", "ok", path="src/b.py", new_string="x")
    steps.call("bash", "2 failed\nexit code 1", command="pytest -q").call("get_user", "{}", user_id="mia_li_3668")
    found = index_of(steps, 1, len(steps.messages), index_tokens=3_000, restore_files=0)
    assert found["files read"] == "src/a.py"
    assert found["files written"] == "src/b.py"
    assert found["commands"] == "pytest -q (failed)"
    assert found["calls"] == 'get_user {"user_id": "mia_li_3668"}'


@pytest.mark.parametrize(
    ("tool", "arguments", "actions"),
    [
        pytest.param("Read", {"file_path": "a.py"}, [Action("files read", "a.py", whole=True)], id="a file as a whole"),
        pytest.param("Read", {"file_path": "a.py", "offset": 9}, [Action("files read", "a.py")], id="a part of a file"),
        pytest.param(
            "Write", {"file_path": "a.py", "content": "x = 1"}, [Action("files written", "a.py", written="x = 1")],
            id="what stands in it now",
        ),
        pytest.param("edit", {"path": "a.py", "old_str": "x", "new_str": "y"}, [Action("files written", "a.py")],
                     id="edit"),
        pytest.param("delete_file", {"path": "a.py"}, [Action("files written", "a.py")], id="delete"),
        pytest.param(
            "str_replace_editor", {"command": "view", "path": "a.py"}, [Action("files read", "a.py", whole=True)],
                     id="view"
        ),
        pytest.param(
            "str_replace_editor", {"command": "create", "path": "a.py", "file_text": "x"},
            [Action("files written", "a.py", written="x")], id="an action as an argument",
        ),
        pytest.param("list_files", {"path": "src"}, [Action("calls", "list_files src")], id="a listing"),
        pytest.param("files", {"path": "src", "action": "search"}, [Action("calls", "files search src")], id="search"),
        pytest.param("open", {"path": "src/"}, [Action("calls", "open src/")], id="a folder"),
        pytest.param("open", {"path": " "}, [Action("calls", 'open {"path": " "}')], id="no path"),
        pytest.param("bash", {"command": "cat a.py"}, [Action("files read", "a.py", whole=True)], id="cat"),
        pytest.param("bash", {"command": "sed -n 1,9p a.py"}, [Action("files read", "a.py")], id="sed prints"),
        pytest.param("bash", {"command": "sed -i s/a/b/ a.py"}, [Action("commands", "sed -i s/a/b/ a.py")],
                     id="sed -i"),
        pytest.param("bash", {"command": "cat a.py | wc"}, [Action("commands", "cat a.py | wc")], id="a pipe"),
        pytest.param("shell", {"command": ["make", "test"]}, [Action("commands", "make test")], id="a list of words"),
        pytest.param("bash", {"command": ""}, [Action("calls", 'bash {"command": ""}')], id="no command"),
        pytest.param(
            "apply_patch", {"input": "*** Begin Patch\n*** Update File: a.py\n*** Add File: b.py\n"},
            [Action("files written", "a.py"), Action("files written", "b.py")], id="a patch",
        ),
        pytest.param("apply", {"diff": "--- a/a.py\n+++ b/a.py\n@@"}, [Action("files written", "a.py")], id="a diff"),
    ],
)  # fmt: skip
def test_what_a_call_did(tool, arguments, actions):
    """Whatever the host calls its tools."""
    assert list(find_actions(Part("call", json.dumps(arguments), 1, tool))) == actions


@pytest.mark.parametrize(
    ("tool", "text", "action"),
    [
        pytest.param("bash", "cat a.py", Action("files read", "a.py", whole=True), id="the command line itself"),
        pytest.param("bash", "", Action("calls", "bash"), id="nothing"),
        pytest.param("f", "[1]", Action("calls", "f [1]"), id="no object"),
        pytest.param("f", "{broken", Action("calls", "f {broken"), id="no JSON"),
    ],
)
def test_arguments_that_are_no_object(tool, text, action):
    """Are a command line, or shown as they are."""
    assert find_actions(Part("call", text, 1, tool)) == (action,)


TRACEBACK = 'Traceback (most recent call last):\n  File "shop.py", line 7, in total\n    return prices[sku]\nKeyError: '


def test_open_errors_are_named_by_class_and_resolved_ones_are_not():
    """What succeeds later, also after the messages that go, resolves what failed in them."""
    steps = Steps().call("bash", f"{TRACEBACK}'a-1'\nexit code 1", command="python shop.py")
    steps.call("bash", f"{TRACEBACK}'a-1'\nexit code 1", command="python shop.py")
    steps.call("bash", "npm ERR! missing script: build\nexit code 1", command="npm run build")
    end = len(steps.messages)
    steps.call("bash", "built in 3 s", command="npm run build")
    found = index_of(steps, 1, end)
    assert found["open errors"].startswith("[KeyError] at total (shop.py:7): 'a-1' #")
    assert found["open errors"].endswith(" x2 in bash python shop.py")
    assert "npm" not in found["open errors"]


def test_a_digest_in_the_list_is_told_with_its_count():
    """Ours, and one that a boundary has handed out; what another layer has cut proves nothing."""
    line = marker("errors", "#1a2b KeyError x3, 120 tokens", "memory:1")
    steps = Steps().call("bash", f"[KeyError] at shop.py:7: 'a-1' #1a2b\n{line}", command="python shop.py")
    steps.call("bash", "[ENOENT]: no such file #3c4d again (x4, 4 in a row)", command="cat missing")
    steps.call("bash", marker("micro", "failed result of bash, 90 tokens", "memory:2"), command="cat missing")
    found = index_of(steps, 1, len(steps.messages))
    assert found["open errors"] == (
        "[ENOENT]: no such file #3c4d x4 in bash cat: missing | "
        "[KeyError] at shop.py:7: 'a-1' #1a2b x3 in bash python shop.py"
    )


def test_a_wide_success_resolves_what_it_covers():
    """All tests pass: so does the one that failed."""
    steps = Steps().call(
        "bash", "FAILED tests/test_a.py::test_x\n1 failed\nexit code 1", command="pytest tests/test_a.py"
    )
    end = len(steps.messages)
    steps.call("bash", "12 passed", command="pytest")
    assert "open errors" not in index_of(steps, 1, end)


def cut_by_micro(archive: MemoryArchive, text: str, what: str = "result of bash") -> str:
    """The line that is left of an old result."""
    return marker("micro", f"{what}, 900 tokens", archive.keep(text))


@pytest.mark.parametrize(
    ("tool", "arguments", "error", "success"),
    [
        pytest.param("bash", {"command": "cat a.yml"}, "cat: a.yml: No such file or directory", "a: 1\n", id="shell"),
        pytest.param("get_order", {"id": "W-1"}, '{"error": "upstream timed out"}', '{"id": "W-1"}', id="JSON"),
        pytest.param(
            "edit",
            {"path": "a.py", "new_string": "x"},
            "Error: String to replace not found in file.",
            "done",
            id="edit",
        ),
    ],
)
def test_what_was_cut_is_read_whole_for_what_it_was(tool, arguments, error, success):
    """A success in the archive resolves, a failure in it is open, and what is not there any more proves nothing."""
    archive = MemoryArchive()
    cut = cut_by_micro(archive, success)
    failed = Steps().call(tool, error, **arguments)
    failed_and_cut = Steps().call(tool, cut_by_micro(archive, error), **arguments)
    for steps in (failed, failed_and_cut):
        assert "open errors" in index_of(steps, 1, 3, space=workspace(archive))
        assert "open errors" not in index_of(steps.call(tool, cut, **arguments), 1, 3, space=workspace(archive))
    lost = Steps().call(tool, error, **arguments).call(tool, cut, **arguments)
    assert "open errors" in index_of(lost, 1, 3, space=workspace())
    lost = Steps().call(tool, cut_by_micro(archive, error), **arguments)
    assert "open errors" not in index_of(lost, 1, 3, space=workspace())


def test_a_call_that_failed_says_so_after_its_result_was_cut():
    """A file that was not edited is no written one."""
    archive = MemoryArchive()
    line = cut_by_micro(archive, "Error: String to replace not found in file.", "result of edit")
    steps = Steps().call("edit", line, path="a.py", old_string="y", new_string="x")
    assert index_of(steps, 1, 3, space=workspace(archive))["files written"] == "a.py (failed)"


def test_of_many_open_errors_the_newest_are_classified():
    """And none is counted, since older ones were not looked at."""
    steps = Steps()
    for number in range(30):
        steps.call("bash", f"{TRACEBACK}'key'\nexit code 1", command=f"python shop{number}.py")
    found = index_of(steps, 1, len(steps.messages))
    assert " x" not in found["open errors"]


def test_an_index_keeps_to_its_budget_and_says_what_is_missing():
    """Sections in their order; each leaves room for those after it."""
    sections: Any = {"files read": [f"src/module_{number}.py" for number in range(50)], "names": ["a1b2", "c3d4"]}
    text = render_index(sections, 200, estimate_tokens)
    assert text.split("\n")[0].endswith(" more")
    assert text.split("\n")[-1] == "names: a1b2, c3d4"
    assert estimate_tokens(text) <= 200
    assert render_index(sections, 20, estimate_tokens) == ""
    assert render_index({"names": ["n" * 400]}, 40, estimate_tokens) == ""


def marked(*lines: str) -> Message:
    """A marker with lines below it."""
    return providers.from_user("\n".join([marker("reactive", "9 messages, 900 tokens", "memory:1"), *lines]), len)


def test_an_index_is_read_again():
    """As far as it is one."""
    sections: Any = {"files read": ["a.py", "b.py"], "names": ["a1b2", "c3d4"]}
    text = render_index(sections, 1_000, estimate_tokens)
    assert read_index(marked(text, "The summary: it says more", "calls: none")) == sections
    assert read_index(marked("names: a1b2, +7 more")) == {"names": ["a1b2"]}
    assert read_index(marked("no section")) == {}
    assert read_index(Message("user", (), 4)) == {}


def test_what_an_earlier_index_holds_is_carried_on():
    """Or two compactions would forget what one remembers."""
    line = marker("reactive", "9 messages, 900 tokens", "memory:1")
    text = f"{line}\nfiles read: old.py\nopen errors: [E]: gone #1a2b\nnames: gift_card_1234"
    steps = Steps().say("user", text).call("view", "code", path="new.py")
    found = index_of(steps, 1, len(steps.messages), restore_files=0)
    assert found["files read"] == "new.py | old.py"
    assert "gift_card_1234" in found["names"]
    assert "open errors" not in found


def test_names_that_stand_elsewhere_are_not_repeated():
    """Not those of messages that stay, nor those of a summary."""
    steps = Steps().call("get", '{"id": "res_8812", "other": "res_9913", "third": "res_7714"}')
    steps.say("user", "Cancel res_9913.")
    conversation = read(steps.messages)
    found = survey_messages(conversation, 1, 3, workspace())
    assert sorted(found.sections["names"]) == ["res_7714", "res_8812"]
    index = render_index(found.sections, 1_000, estimate_tokens, "The reservation res_7714 is open.")
    assert index.split("\n")[-1] == "names: res_8812"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param('{"user_id": "mia_li_3668"}', ["mia_li_3668"], id="a value, not its field"),
        pytest.param("""{"user_id" : 1, 'item_id' :2, "a_b"\t: "c_d" :e_f}""", ["a_b", "e_f"], id="fields and blanks"),
        pytest.param("in /usr/lib/a.py:12 and ./b/c", ["/usr/lib/a.py", "./b/c"], id="paths"),
        pytest.param(r"C:\Users\x\f.txt", [r"C:\Users\x\f.txt"], id="a path of Windows"),
        pytest.param("https://x.io/a?b=1 a.b@c.de", ["https://x.io/a?b=1", "a.b@c.de"], id="addresses"),
        pytest.param("--flag=/a/b key:Value9", ["/a/b", "Value9"], id="the value of a flag"),
        pytest.param("at 2024-05-20T10:00:00, 127.0.0.1:5432", ["2024-05-20T10:00:00", "127.0.0.1:5432"], id="times"),
        pytest.param("from JFK with getThing and .env", ["JFK", "getThing", ".env"], id="identifiers"),
        pytest.param("$19.99 but 3.5 or 123", ["19.99"], id="numbers of four digits"),
        pytest.param("pays 62,559.33 for 1234,5678", ["62,559.33", "1234", "5678"], id="a number with its commas"),
        pytest.param("24th 300ms 1.5em 1280px 59XX6W", ["59XX6W"], id="a size is no name"),
        pytest.param(r'{"code": "a\nds.meta\tx_1 C:\\new_1"}', ["ds.meta", "x_1", r"C:\\new_1"], id="a string of JSON"),
        pytest.param("\x1b[2mget_it\x1b[0m 12→mod.run", ["get_it", "mod.run"], id="colours and numbers of lines"),
        pytest.param("The end. It is e.g. so: ---- ====", [], id="prose"),
        pytest.param("x" * 200 + "_1", [], id="data"),
    ],
)
def test_names(text, names):
    """What a model must repeat to the letter, by form alone."""
    assert [name for piece in split_text(text) for name in names_in(piece)] == names


def test_names_of_a_cut_result_come_from_its_whole():
    """Where the archive still has it; else from what is left."""
    archive = MemoryArchive()
    place = archive.keep("the gift_card_1234")
    cut = Part("result", marker("micro", "result of get, 9 tokens", place), 9)
    gone = Part("result", marker("micro", "result of get, 9 tokens; names left_1", "memory:gone"), 9)
    said = Part("text", f"{marker('snip', '9 messages, 9 tokens', place)}\nnames: said_1", 9)
    assert list(NameUse((), archive).names_of(cut)) == ["gift_card_1234"]
    assert list(NameUse((), archive).names_of(gone)) == ["left_1"]
    assert "left_1" in NameUse(()).names_of(gone)
    assert list(NameUse((), archive).names_of(said)) == ["said_1"]


def test_a_long_text_is_searched_at_its_ends():
    """What lies between is data."""
    text = f"first_1 {'x ' * MAX_TEXT}last_1"
    assert list(NameUse(()).names_of(Part("text", text, 1))) == ["first_1", "last_1"]


def test_times_of_a_log_are_named_last():
    """Each is the only one of its kind, and none is asked for again."""
    log = "2026-09-12T09:14:22.113Z order_4711 shipped\n2026-09-12T09:14:23.008Z order_4712 late\n"
    steps = Steps().call("read", log)
    use = NameUse(read(steps.messages).messages)
    assert use.rank_names(use.names) == [
        "order_4711",
        "order_4712",
        "2026-09-12T09:14:22.113Z",
        "2026-09-12T09:14:23.008Z",
    ]


def test_ids_are_named_first_and_numbers_last():
    """A date can be asked for again, and what costs three names stands behind what costs one."""
    names = ["4711.50", "1957-10-05", "5440873c-2d59-4c8c-88ec-c0a8c38a027d", "gift_card_8516878"]
    use = NameUse(read(Steps().call("get", " ".join(names)).messages).messages)
    assert use.rank_names(use.names) == [*reversed(names)]


def test_a_name_that_another_line_of_the_index_shows_is_not_repeated():
    """One that found no place there is named."""
    files = [f"/srv/file_{number}.py" for number in range(9)]
    shown = render_index({"files read": files, "names": [*files, "res_8812"]}, 200, estimate_tokens).split("\n")
    assert shown[0] == "files read: /srv/file_0.py | /srv/file_1.py | /srv/file_2.py | +6 more"
    assert shown[1].startswith("names: /srv/file_3.py, /srv/file_4.py, ")
    assert shown[1].endswith(", res_8812")


def test_the_deepest_cut_leaves_the_index_room():
    """What the list may cost is more than the target; an index of as much as that leaves would be empty."""
    ids = [f"gift_card_{number:07}" for number in range(30)]
    steps = Steps().call("get", " ".join(ids)).call("read", "word " * 900).call("read", "word " * 20)
    deep = dataclasses.replace(workspace(target=60), ample_tokens=900, room_tokens=1_200)
    edited = reactive(read(steps.messages), deep).conversation
    assert all(one in edited.messages[1].parts[0].text for one in ids)
    assert edited.tokens < 900


def test_the_line_of_an_old_result_names_what_only_it_showed():
    """What stands in calls or in somebody's words is still to be read there."""
    result = json.dumps({"card": "gift_card_1234", "used": "HAT00512", "said": "res_8812", "prose": "word " * 200})
    steps = Steps().call("get", result, flight="HAT00512").say("user", "Cancel res_8812.")
    steps.call("get", "y" * 400).say("assistant", "Done.")
    edited = micro(read(steps.messages), workspace(keep_results=1, target=0))
    line = edited.conversation.messages[2].parts[0].text
    assert line.startswith("[errcompact micro: result of get, 2")
    assert "; names gift_card_1234; whole: memory:" in line


def test_a_line_has_room_for_few_names():
    """It says how many more there are."""
    names = [f"reservation_number_{number:06}" for number in range(300)]
    steps = Steps().call("get", " ".join(names)).call("get", "y" * 400)
    line = micro(read(steps.messages), workspace(keep_results=1, target=0)).conversation.messages[2].parts[0].text
    assert "; names reservation_number_000000, " in line
    assert " more; whole: " in line
    assert estimate_tokens(line) < 110


def test_one_long_name_is_left_out_of_a_line():
    """Its line would be no line."""
    steps = Steps().call("get", f"{'a1' * 45} {'word ' * 80}").call("get", "y" * 400)
    line = micro(read(steps.messages), workspace(keep_results=1, target=0)).conversation.messages[2].parts[0].text
    assert "names" not in line


# Files.


def test_the_newest_files_are_put_back():
    """From the list itself; what was written since, or is still to be read in the list, is not."""
    steps = Steps().call("read", "old a", path="a.py").call("read", "b text", path="b.py")
    steps.call("read", "c text", path="c.py").call("edit", "ok", path="c.py", new_string="x")
    steps.call("read", "d text", path="d.py").call("write", "ok", path="e.py", content="e text")
    steps.call("read", "new a", path="a.py").call("read", "Error: no such file: f.py", path="f.py")
    end = len(steps.messages)
    steps.call("read", "d text", path="d.py")
    archive = MemoryArchive()
    made = replaced(steps, 1, end, space=workspace(archive))[1:]
    assert [message["content"].split("\n", 1)[1] for message in made] == ["new a", "e text", "b text"]
    assert [message["content"].split(", as last read")[0] for message in made] == [
        "[errcompact reactive: file a.py",
        "[errcompact reactive: file e.py",
        "[errcompact reactive: file b.py",
    ]
    place = made[0]["content"].split("whole: ")[1].split("]")[0]
    assert archive.read(place) == "new a"


def test_files_stand_before_what_waits_for_an_answer():
    """The work on it may be what stays."""
    steps = Steps().say("user", "Sum up a.py.").call("read", "a text", path="a.py")
    made = replaced(steps, 1, len(steps.messages))
    assert "; the next 2 are from them; " in made[0]["content"]
    assert made[1]["content"].split("\n")[1] == "a text"
    assert made[2] is steps.messages[1]


def test_a_part_of_a_file_says_so_and_gives_way_to_the_whole():
    """And is not shown in the place of a whole that was read before."""
    steps = Steps().call("read", "all of it", path="a.py").call("read", "a part", path="a.py", offset=9)
    steps.call("read", "b part", path="b.py", offset=9).call("read", "b part two", path="b.py", offset=99)
    made = replaced(steps, 1, len(steps.messages))[1:]
    assert [message["content"].split("\n")[1] for message in made] == ["b part two", "all of it"]
    assert "file b.py, a part of it, as last read" in made[0]["content"]
    assert "file a.py, as last read" in made[1]["content"]


def test_files_keep_to_their_budgets():
    """So many, each so long, all together so long; a long one is shortened."""
    steps = Steps()
    for number in range(6):
        steps.call("read", f"file {number}\n" + f"line of {number}\n" * 400, path=f"{number}.py")
    end = len(steps.messages)
    made = replaced(steps, 1, end, restore_files=2, restore_file_tokens=200)[1:]
    assert len(made) == 2
    assert all(estimate_tokens(message["content"]) <= 200 for message in made)
    assert all("characters cut" in message["content"] for message in made)
    assert len(replaced(steps, 1, end, restore_tokens=250, restore_file_tokens=120)[1:]) == 2
    assert len(replaced(steps, 1, end, restore_file_tokens=60)[1:]) == 0
    assert len(replaced(steps, 1, end, restore_file_tokens=10)[1:]) == 0


def test_a_file_that_was_put_back_is_put_back_again():
    """Whole, from the archive, as long as that has it."""
    archive = MemoryArchive()
    steps = Steps().call("read", "a text", path="a.py").call("read", "b text", path="b.py")
    first = replaced(steps, 1, len(steps.messages), space=workspace(archive))
    again = Steps()
    again.messages += first
    again.call("read", "c text", path="c.py")
    second = replaced(again, 1, len(again.messages), space=workspace(archive))
    assert [message["content"].split("\n")[1] for message in second[1:]] == ["c text", "b text", "a text"]
    lost = replaced(again, 1, len(again.messages), space=workspace(MemoryArchive()))
    assert [message["content"].split("\n")[1] for message in lost[1:]] == ["c text"]


class FullArchive(MemoryArchive):
    """Takes nothing more."""

    def keep(self, text: str) -> str:
        raise OSError(28, "No space left on device")


def test_a_full_archive_puts_no_file_back():
    """They lie among the messages, which were kept before."""
    steps = Steps().call("read", "a text", path="a.py")
    assert len(replaced(steps, 1, 3, space=workspace(FullArchive()))) == 1


def test_a_result_that_was_cut_is_no_file():
    """Its marker would be put back in the place of the text."""
    steps = Steps().call("read", marker("micro", "result of read, 900 tokens", "memory:1"), path="a.py")
    assert len(replaced(steps, 1, 3)) == 1


# The whole of it.


def test_a_small_budget_leaves_the_marker_alone():
    """What fits nowhere lies in the archive, but for what the user wants now."""
    steps = Steps().call("read", "a text " * 100, path="a.py").say("user", "Deploy on Monday.")
    made, asked = replaced(steps.say("user", "Never touch prod.env."), 1, len(steps.messages), budget=10)
    assert made["content"].startswith("[errcompact reactive: 4 messages, ")
    assert "\n" not in made["content"]
    assert asked == steps.messages[-1]


def test_what_takes_the_place_never_costs_more_than_its_budget():
    """The marker's count of the messages behind it is paid for, too."""
    steps = Steps().call("read", "a text " * 100, path="a.py").say("user", "Never touch prod.env.")
    steps.say("user", "Deploy on Monday.").call("sh", "Error: no such host db-7", command="ping db-7")
    alone = read(replaced(steps, 1, len(steps.messages), budget=0)).tokens
    for budget in range(alone, alone + 200):
        made = replaced(steps, 1, len(steps.messages), budget=budget)
        assert read(made).tokens <= budget
    assert len(made) == 4
    assert "from them" in made[0]["content"]


def test_no_index_and_no_files_if_the_options_say_so():
    """Words have an option of their own."""
    steps = Steps().call("read", "a text", path="a.py").say("user", "Never touch prod.env.")
    made = replaced(steps, 1, len(steps.messages), index_tokens=0, restore_files=0)
    assert "\n" not in made[0]["content"]
    assert made[1:] == [steps.messages[3]]
    steps.say("user", "Go on.")
    made = replaced(steps, 1, len(steps.messages), index_tokens=0, restore_files=0, words_share=0)
    assert made[1:] == [steps.messages[4]], "the newest request stays"


def test_results_without_calls_are_read_as_well():
    """A list may come broken."""
    steps = Steps()
    steps.messages.append({"role": "tool", "tool_call_id": "lost", "content": "gift_card_1234"})
    assert "gift_card_1234" in index_of(steps, 1, 2)["names"]


def test_only_the_newest_of_very_many_messages_are_read():
    """An index shows no more."""
    steps = Steps().call("get", "oldest_name_1")
    for number in range(1_100):
        steps.call("get", f"name_{number}")
    names = survey_messages(read(steps.messages), 1, len(steps.messages), workspace()).sections["names"]
    assert "name_1099" in names
    assert "oldest_name_1" not in names


def test_a_name_in_older_messages_that_go_as_well_is_named():
    """It stands nowhere any more; a name in the head does."""
    steps = Steps().call("get", "of_the_head_1").call("get", "gift_card_1234")
    for _ in range(1_000):
        steps.call("get", "nothing")
    steps.call("get", "gift_card_1234 of_the_head_1")
    names = survey_messages(read(steps.messages), 3, len(steps.messages), workspace()).sections["names"]
    assert names == ["gift_card_1234"]


def test_what_is_known_of_a_text_is_not_looked_for_again():
    """A list that grows is handed in whole, turn after turn."""
    space = workspace()
    steps = Steps().call("get", "res_8812", path="a.py").call("get", "res_9913")
    survey_messages(read(steps.messages), 1, 5, space)
    steps.call("get", "res_7714")
    found = survey_messages(read(steps.messages), 1, 7, space)
    known = known_of(space)
    assert found == survey_messages(read(steps.messages), 1, 7, workspace())
    assert known.classify_result.cache_info().misses == 3
    assert known.find_actions.cache_info().misses == 2
    assert known.find_names("res_8812") is known.find_names("res_8812")


def test_a_second_hard_cut_takes_the_first_one_s_index_along():
    """And the first user's words, as long as there is room."""
    steps = Steps().say("user", "Never touch prod.env.")
    for number in range(20):
        steps.call("get", f'{{"card": "gift_card_{number:04}"}} {"word " * 40}', number=number)
    space = workspace(target=700, window_tokens=8_000, reserve_tokens=0)
    once = reactive(read(steps.messages), space).conversation
    grown = Steps()
    grown.messages = providers.write_list(once)
    for number in range(20, 40):
        grown.call("get", f'{{"card": "gift_card_{number:04}"}} {"word " * 40}', number=number)
    twice = providers.write_list(reactive(read(grown.messages), space).conversation)
    texts = [message["content"] for message in twice if isinstance(message["content"], str)]
    assert "Never touch prod.env." in texts
    assert sum("[errcompact reactive: " in text and "; whole: " in text for text in texts) == 1
    assert any("gift_card_0000" in text for text in texts)
