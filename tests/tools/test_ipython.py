"""Tracebacks of notebooks."""

from __future__ import annotations

from otel_errcompact.errors import Facts, Location
from tests.extract.reading import facts

NOTEBOOK = """\
---------------------------------------------------------------------------
KeyError                                  Traceback (most recent call last)
Cell In[3], line 1
----> 1 load("a")

Cell In[2], line 2, in load(name)
      1 def load(name):
----> 2     return table[name]

File /usr/lib/python3.11/collections/__init__.py:1106, in UserDict.__getitem__(self, key)
   1105     return self.__class__.__missing__(self, key)
-> 1106 raise KeyError(key)

KeyError: 'a'
"""


def test_notebook():
    """The innermost cell is the place, and its number, which rises with each run, is no part of the key."""
    assert facts(NOTEBOOK) == Facts(
        type="KeyError",
        cause="'a'",
        location=Location(function="load", file="Cell In[2]", line=2),
        key_location=Location(function="load", file="<cell>", line=2),
        details=("> return table[name]", "raised in UserDict.__getitem__ (collections/__init__.py:1106)"),
        format="ipython",
    )


def test_notebook_frame_without_source():
    """A frame may be printed without its lines."""
    text = NOTEBOOK.replace('----> 1 load("a")\n', "").replace("----> 2     return table[name]\n", "")
    assert facts(text).location == Location(function="load", file="Cell In[2]", line=2)


def test_notebook_that_a_program_has_run():
    """The message of the exception that the program raises is the traceback of the notebook."""
    program = (
        'Traceback (most recent call last):\n  File "/usr/lib/python3/dist-packages/nbclient/a.py", line 9, in run\n'
        "    raise CellExecutionError(cell)\nnbclient.exceptions.CellExecutionError: An error occurred:\n"
    )
    again = NOTEBOOK[NOTEBOOK.index("KeyError") :]
    linked = f"{NOTEBOOK}\nThe above exception was the direct cause of the following exception:\n\n{again}"
    found = facts(program + linked)
    assert (found.type, str(found.location), found.wrappers) == ("KeyError", "load (Cell In[2]:2)", ("KeyError",))
    assert "raised as KeyError" in found.details


def test_commands_of_a_hosted_notebook():
    """What was typed in is the user's own code, and what hands it to the cluster is not."""
    found = facts(
        "ValueError                                Traceback (most recent call last)\n"
        "File <command-17>:3\n----> 3 daily.write()\n\n"
        "File /databricks/spark/python/pyspark/errors.py:230, in deco(*a, **kw)\n--> 230     raise converted\n\n"
        "ValueError: no column regoin\n"
    )
    assert (found.location.file, found.details[0]) == ("<command-17>", "> daily.write()")


def test_notebook_cut_off():
    """Without its last line a notebook's traceback keeps type and place; the message is what the source says."""
    found = facts(NOTEBOOK[: NOTEBOOK.index("KeyError: ")], message="'a'")
    assert (found.type, found.cause, found.location.function) == ("KeyError", "'a'", "load")


def test_notebook_header_alone():
    """With nothing but the header there is still a type."""
    found = facts("KeyError                                  Traceback (most recent call last)")
    assert (found.type, found.cause, found.location) == ("KeyError", "no message", Location())


def test_counts_of_skipped_frames():
    """What IPython leaves out of a recursion it counts by function."""
    found = facts(
        "RecursionError                            Traceback (most recent call last)\n"
        "File /app/a.py:9\n----> 9 main()\n\n"
        "File /app/a.py:7, in main()\n----> 7 ping(0)\n\n"
        "File /app/a.py:2, in ping(n)\n----> 2     return pong(n)\n\n"
        "File /app/a.py:4, in pong(n)\n----> 4     return ping(n)\n\n"
        "    [... skipping similar frames: ping at line 2 (97 times), gone at line 4 (96 times)]\n\n"
        "File /app/a.py:2, in ping(n)\n----> 2     return pong(n)\n\n"
        "RecursionError: maximum recursion depth exceeded\n"
    )
    assert found.details[1] == "cycle: ping (a.py:2) -> pong (a.py:4) -> ping, 99 times"


def test_tracebacks_that_are_not_linked():
    """Of several tracebacks that have nothing to do with each other the last one counts."""
    one = "KeyError                                  Traceback (most recent call last)\nFile /app/a.py:9, in f()\n"
    found = facts(f"{one}\nKeyError: 'a'\n{one}\nKeyError: 'b'\n")
    assert (found.cause, found.wrappers) == ("'b'", ())


def test_recursion_without_frames():
    """A recursion whose frames are not printed has no cycle."""
    header = "RecursionError                            Traceback (most recent call last)\n"
    assert facts(f"{header}\nRecursionError: maximum recursion depth exceeded\n").details == ()
