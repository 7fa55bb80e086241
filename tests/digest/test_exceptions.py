import traceback

from hypothesis import given
from hypothesis import strategies as st

import otel_errcompact as errcompact
from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact.engine.ledger import Ledger

TYPES = st.sampled_from([ValueError, KeyError, OSError, RuntimeError])
MESSAGES = st.sampled_from(["no order 17", "x", "one row\nsecond row\nthird row", "row of words " * 300, "y" * 4_000])
HOW = st.sampled_from(["cause", "context", "group", "note"])


def fail(links, leaf):
    if not links:
        raise leaf
    (of_type, message, how), *inner = links
    try:
        fail(inner, leaf)
    except Exception as error:
        raised = ExceptionGroup(message, [error]) if how == "group" else of_type(message)
        if how == "note":
            raised.add_note(message)
        if how == "context":
            raise raised  # noqa: B904 - that is the case
        raise raised from (None if how == "group" else error)


@given(st.lists(st.tuples(TYPES, MESSAGES, HOW), max_size=5), TYPES, MESSAGES)
def test_a_digest_of_an_exception_is_no_longer_than_its_traceback(links, of_type, message) -> None:
    """In tokens; of what its framework would have sent it is two lines longer, and it names the root."""
    seen = []

    def tool():
        try:
            fail(links, of_type(message))
        except Exception as error:
            seen.extend(("".join(traceback.format_exception(error)), str(error)))
            raise

    with errcompact.run("r", ledger=Ledger()) as run:
        text = str(run.call(tool))
    printed, sent, first = map(estimate_tokens, (*seen, text.partition("\n")[0]))
    assert estimate_tokens(text) <= min(printed, max(sent, first) + 64 + 8)  # two lines, and the count of more
    assert of_type.__name__ in text
    assert message[:7] in text
