"""Settings files as people write them: with comments, any indentation, hooks of others, any characters."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\u2028\u2029"), max_size=8)
COMMENTS = st.sampled_from(["", "", "", " // note", " /* two\n lines */", '\n// // "x": {\n', " /**/ "])
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | WORDS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2), max_leaves=4
)
OTHERS_HOOK = st.fixed_dictionaries(
    {
        "matcher": st.sampled_from(["Bash", "*", ""]),
        "hooks": st.lists(st.just({"type": "command", "command": "theirs"})),
    }
)
HOOKS = st.dictionaries(
    st.sampled_from(["PreToolUse", "PostToolBatch", "Stop", "BeforeTool", "preToolUse"]),
    st.lists(OTHERS_HOOK, max_size=2),
)
SETTINGS = st.builds(
    lambda rest, hooks, env: {**rest, **hooks, **env},
    st.dictionaries(WORDS.filter(lambda word: word not in {"hooks", "env", "version"}), VALUES, max_size=3),
    st.just({}) | st.builds(lambda hooks: {"hooks": hooks}, HOOKS),
    st.just({}) | st.just({"env": {"A": "b"}}) | st.just({"env": {}}),
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A settings file as text."""
    value = draw(SETTINGS)
    indent = draw(st.sampled_from([None, 1, 2, 3, 4, "\t"]))
    newline = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    comments = draw(st.booleans())
    lines = json.dumps(value, indent=indent, ensure_ascii=draw(st.booleans())).split("\n")
    made = [f"{line}{draw(COMMENTS)}" if comments and not _in_string(line) else line for line in lines]
    text = "\n".join(made).replace("\n", newline)
    begin = draw(st.sampled_from(["", "", "\ufeff", "// head\n", newline]))
    return f"{begin}{text}{draw(st.sampled_from(['', newline, newline * 2, ' ']))}"


def _in_string(line: str) -> bool:
    return line.count('"') % 2 == 1


def data_of(text: str) -> Any:
    """What a host reads of a text without comments."""
    return json.loads(text.removeprefix("\ufeff"))
