"""Diagnostics of rustc and of tools that print like it."""

# The samples are self-written in the forms that the tools document and print.

from __future__ import annotations

import pytest

from tests.extract.reading import facts_alone, key, said

facts = facts_alone("rustc")


_MOVED = """\
error[E0382]: borrow of moved value: `order`
  --> src/order.rs:31:22
   |
29 |     let order = open();
   |         - move occurs because `order` has type `Order`, which does not implement the `Copy` trait
30 |     let copy = order;
   |                - value moved here
31 |     ship(&copy, order.size());
   |                 ^^^^^ value borrowed here after move
   |
note: if `Order` implemented `Clone`, you could clone the value
  --> src/order.rs:4:1
   |
 4 | struct Order {
   | ^^^^^^^^^^^^ consider implementing `Clone` for this type

error: aborting due to 1 previous error
"""
_MISMATCH = """\
error[E0308]: mismatched types
  --> src/main.rs:11:9
   |
10 |     fn size(&self) -> u32 {
   |                       --- expected `u32` because of return type
11 |         self.lines.len()
   |         ^^^^^^^^^^^^^^ expected `u32`, found `usize`
   |
   = note: expected type `u32`
              found type `usize`
help: you can convert it
   |
11 |         self.lines.len().try_into().unwrap()
   |                       ++++++++++++++++++++
"""
_LINT = """\
error: length comparison to zero
 --> src/main.rs:3:8
  |
3 |     if names.len() == 0 {
  |        ^^^^^^^^^^^^^^^^ help: using `is_empty` is clearer: `names.is_empty()`
  |
  = help: for further information visit https://example.com/len_zero
  = note: `-D clippy::len-zero` implied by `-D warnings`
"""
_LINKING = """\
error: linking with `cc` failed: exit status: 1
  |
  = note:  "cc" "-m64"
  = note: rust-lld: error: undefined symbol: total
          collect2: error: ld returned 1 exit status
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(_MOVED, ("E0382", "src/order.rs:31", "borrow of moved value: `order`"), id="a moved value"),
        pytest.param(
            _MISMATCH, ("E0308", "src/main.rs:11", "mismatched types: expected `u32`, found `usize`"), id="two types"
        ),
        pytest.param(
            _MISMATCH.replace("^ expected `u32`, found `usize`", "^"),
            ("E0308", "src/main.rs:11", "mismatched types"),
            id="no label",
        ),
        pytest.param(_LINT, ("clippy::len-zero", "src/main.rs:3", "length comparison to zero"), id="clippy"),
        pytest.param(_LINKING, ("LinkError", "", "undefined symbol: total"), id="the linker"),
        pytest.param(
            _LINKING[: _LINKING.index("  = note: rust")],
            ("LinkError", "", "linking with `cc` failed: exit status: 1"),
            id="the linker, cut",
        ),
        pytest.param(
            'error: could not compile `shop` (bin "shop") due to 3 previous errors',
            ("CompileError", "", 'could not compile `shop` (bin "shop") due to 3 previous errors'),
            id="only the last line is left",
        ),
        pytest.param(
            "error[E0601]: `main` function not found in crate `shop`\n  |\n  = note: consider adding it\n",
            ("E0601", "", "`main` function not found in crate `shop`"),
            id="without a place",
        ),
        pytest.param(
            "error[import-not-found]: Cannot resolve imported module `shop.tax`\n --> shop/cart.py:4:6\n",
            ("import-not-found", "shop/cart.py:4", "Cannot resolve imported module `shop.tax`"),
            id="ty",
        ),
        pytest.param(
            "warning: unused variable: `d`\n --> src/a.rs:3:9\n  |\n"
            "  = note: `#[warn(unused_variables)]` on by default\n",
            ("unused_variables", "src/a.rs:3", "unused variable: `d`"),
            id="nothing but a warning",
        ),
        pytest.param(
            "error: unknown\n --> src/a.rs:3:9\n\nwarning: x\n --> src/a.rs:1:1\n",
            ("CompileError", "src/a.rs:3", "unknown"),
            id="no code",
        ),
        pytest.param(
            "warning: x\n --> src/a.rs:1:1\nerror: aborting due to 2 previous errors",
            ("CompileError", "", "aborting due to 2 previous errors"),
            id="the errors are cut off",
        ),
    ],
)
def test_forms(text, expected):
    """The code or lint, the place of the arrow, and the message with what is said at the place."""
    assert said(facts(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            _MOVED,
            (
                "line 29: move occurs because `order` has type `Order`, which does not implement the `Copy` trait",
                "line 30: value moved here",
                "note: if `Order` implemented `Clone`, you could clone the value at src/order.rs:4: struct Order {",
                "> ship(&copy, order.size());",
            ),
            id="labels elsewhere",
        ),
        pytest.param(
            _MISMATCH,
            (
                "help: self.lines.len().try_into().unwrap()",
                "note: expected type `u32`, found type `usize`",
                "> self.lines.len()",
            ),
            id="the proposal as code",
        ),
        pytest.param(
            _LINT,
            ("help: using `is_empty` is clearer: `names.is_empty()`", "> if names.len() == 0 {"),
            id="the proposal at the place",
        ),
        pytest.param(
            "error[E0425]: no `totl`\n --> a.rs:6:5\n  |\n6 |     totl();\n  |     ^^^^\n  |\n"
            "help: a similar one\n  |\n"
            "3 -     totl();\n3 +     total();\nhelp: rename it\n  = note: expected x",
            ("help, line 3: total();", "help: rename it", "note: expected x", "> totl();"),
            id="a proposal in another line",
        ),
        pytest.param(
            "error[E0001]: a\n --> a.rs:6:5\n  |\n  | ----- named here\n  |\n... |\nhelp: do\nnote: expected `a`",
            ("help: do", "named here", "note: expected `a`"),
            id="no source, cut",
        ),
    ],
)
def test_details(text, expected):
    """The compiler's proposal as code comes first, then what it says elsewhere, then the source."""
    found = facts(text)
    assert found.details == expected


def test_many():
    """Several errors are one line each, without warnings; of those cut off the number is told."""
    found = facts(f"{_MISMATCH}\nwarning: unused\n --> a.rs:1:1\n\n{_MOVED}".replace("to 1 previous", "to 3 previous"))
    assert found.tally == "1 of 3 errors"
    *_, moved, _, note, left = found.details
    assert moved.startswith(
        "E0382 at order.rs:31: borrow of moved value: `order`; line 29: move occurs because `order` has type"
    )
    assert note == "note: if `Order` implemented `Clone`, you could clone the value at src/order.rs:4: struct Order {"
    assert left == "... 1 more by the tool's count"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("error: failed to run custom build command\n\nCaused by:\n  x --> y", id="cargo"),
        pytest.param("a --> b: an arrow\nerrors: none\nwarnings --> x", id="prose"),
    ],
)
def test_not_taken(text):
    """An error without a code and a place may be any program's."""
    assert facts(text) is None


def test_keys():
    """Lines and folders do not matter; the code and the name do."""
    assert key(_MOVED) == key(_MOVED.replace("31", "47").replace("29", "45").replace("30", "46"))
    assert key(_MOVED) != key(_MOVED.replace("E0382", "E0502"))
    assert key(_MOVED) != key(_MOVED.replace("value: `order`", "value: `basket`"))


def test_places_of_notes():
    """Notes with the same words are told apart by their places."""
    note = "note: expected `Key`, found `String`\n --> a.rs:{0}:9\n  |\n{0} |         {1},\n  |         ^\n"
    head = "error[E0308]: arguments to this function are incorrect\n --> a.rs:8:5\n  |\n8 |     open(\n  |     ^^^^\n"
    found = facts(f"{head}{note.format(10, 'k')}{note.format(11, 'o')}")
    assert "note: expected `Key`, found `String` at a.rs:10: k," in found.details
    assert "note: expected `Key`, found `String` at a.rs:11: o," in found.details
