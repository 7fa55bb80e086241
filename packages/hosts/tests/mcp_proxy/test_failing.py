"""What becomes of calls that fail."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from packages.hosts.tests.mcp_proxy.peer import proxied
from packages.hosts.tests.mcp_proxy.server import TRACE

pytestmark = pytest.mark.programs

RAW = f"Raw output ({len(TRACE):,} characters): "


def test_an_error_is_its_digest_and_where_the_raw_text_is(tmp_path: Path) -> None:
    """It stays an error; the raw text is in a file that only the user can read."""
    with proxied(tmp_path) as peer:
        peer.begin()
        result = peer.call("boom", x=1)
    digest, place = result["content"][0]["text"].rsplit("\n", 1)
    assert (result["isError"], len(result["content"])) == (True, 1)
    assert digest.startswith("[KeyError] at call_29 (/srv/shop/layer_29.py:29): 'tea' #")
    assert len(digest) < len(TRACE) / 4
    assert place.startswith(RAW)
    file = Path(place.removeprefix(RAW))
    assert file.is_relative_to(tmp_path / "state")
    assert file.read_text() == TRACE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_repeats_are_counted_and_identical_ones_refused(tmp_path: Path) -> None:
    """Another call with the tool is executed: no tool is ever disabled."""
    with proxied(tmp_path) as peer:
        peer.begin()
        first, second, third = (peer.fails("boom", x=1) for _ in range(3))
        other = peer.fails("boom", x=2)
        assert peer.call("echo", words="a")["content"] == [{"type": "text", "text": "a"}]
    assert "again (x2" not in first
    assert "again (x2" in second
    assert third.startswith("NOT EXECUTED: this exact call has failed 2 times")
    assert "again (x3" in other


def test_a_call_that_has_succeeded_is_not_refused(tmp_path: Path) -> None:
    """What failed before it may work now."""
    flaky = tmp_path / "flaky.py"
    flaky.write_text(
        "import json, sys\n"
        "outcomes = iter([True, True, False, True, True])\n"
        "for line in sys.stdin:\n"
        "    request = json.loads(line)\n"
        "    failed = next(outcomes)\n"
        "    result = {'content': [{'type': 'text', 'text': 'Error: busy' if failed else 'ok'}], 'isError': failed}\n"
        "    print(json.dumps({'jsonrpc': '2.0', 'id': request['id'], 'result': result}), flush=True)\n"
    )
    with proxied(tmp_path, ("python3", str(flaky)), OTEL_ERRCOMPACT_THRESHOLDS_REFUSE="3") as peer:
        outcomes = [peer.call("flaky", x=1)["isError"] for _ in range(5)]
    assert outcomes == [True, True, False, True, True]


def test_what_is_no_text_stays_and_what_is_structured_goes(tmp_path: Path) -> None:
    """A client may show the structured content in place of the digest; it is in the raw text."""
    with proxied(tmp_path) as peer:
        peer.begin()
        result = peer.call("picture")
    assert set(result) == {"content", "isError", "_meta"}
    assert (result["isError"], result["_meta"]) == (True, {"y": 2})
    assert result["content"][1:] == [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]
    text = result["content"][0]["text"]
    assert "no such page" in text
    assert '"code": 404' in text or Path(text.rpartition(": ")[2]).read_text() == 'Error: no such page\n{"code": 404}'


def test_an_error_of_the_protocol_stays_one(tmp_path: Path) -> None:
    """Newer servers say so that a tool is unknown; code and data are for the client."""
    with proxied(tmp_path) as peer:
        peer.begin()
        errors = [peer.request("tools/call", {"name": "reject"})["error"] for _ in range(2)]
        refused = peer.fails("reject")
    assert [(error["code"], error["data"]) for error in errors] == [(-32602, {"a": 1})] * 2
    assert errors[0]["message"].startswith("Unknown tool: reject #")
    assert "again (x2" in errors[1]["message"]
    assert refused.startswith("NOT EXECUTED: ")


def test_what_a_server_asks_of_the_client_by_an_error_passes(tmp_path: Path) -> None:
    """Such as to open a page: it is no failure, and must not be changed or refused."""
    with proxied(tmp_path) as peer:
        peer.begin()
        for _ in range(4):
            assert peer.request("tools/call", {"name": "log in"})["error"]["code"] == -32042
    assert all(b"errcompact" not in line and b"#" not in line for line in peer.lines)


def test_a_refusal_has_the_form_of_the_protocol_without_sessions(tmp_path: Path) -> None:
    """There a result names its type."""
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    params = {"name": "boom", "arguments": {}, "_meta": meta}
    with proxied(tmp_path) as peer:
        results = [peer.request("tools/call", params)["result"] for _ in range(3)]
    assert results[2]["content"][0]["text"].startswith("NOT EXECUTED: ")
    assert (results[2]["isError"], results[2]["resultType"]) == (True, "complete")


def test_observing_changes_nothing(tmp_path: Path) -> None:
    """The mode counts, and no more."""
    with proxied(tmp_path, OTEL_ERRCOMPACT_MODE="observe") as peer:
        peer.begin()
        assert [peer.fails("boom", x=1) for _ in range(4)] == [TRACE] * 4


def test_operators_have_the_raw_error_and_the_name_of_the_client(tmp_path: Path) -> None:
    """In the trajectory file, which is where the variable says."""
    path = tmp_path / "mine.jsonl"
    with proxied(tmp_path, OTEL_ERRCOMPACT_TRAJECTORY_PATH=str(path)) as peer:
        peer.begin(name="some-host")
        peer.fails("boom", x=1)
    record = json.dumps(json.loads(path.read_text().splitlines()[0]))
    assert "some-host" in record
    assert "layer_17.py" in record


def test_the_folder_of_raw_texts_may_be_unwritable(tmp_path: Path) -> None:
    """Then there is the digest alone, and standard error says why."""
    (tmp_path / "full").write_text("a file, no folder")
    with proxied(tmp_path, OTEL_ERRCOMPACT_CONTEXT_FOLDER=str(tmp_path / "full")) as peer:
        peer.begin()
        text = peer.fails("boom", x=1)
    assert text.startswith("[KeyError] at call_29")
    assert RAW not in text
    assert "the raw text of a failure is not kept for the agent" in peer.error


@pytest.mark.parametrize("arguments", [None, [1], "text", 7])
def test_arguments_that_are_no_object_are_left_to_the_server(tmp_path: Path, arguments: object) -> None:
    """It says what is wrong with them."""
    with proxied(tmp_path) as peer:
        peer.begin()
        answer = peer.request("tools/call", {"name": "boom", "arguments": arguments})
    assert answer["result"]["isError"] is True


ODD = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    deep = {"content": [{"type": "text", "text": "[" * 100_000}], "structuredContent": {"a": 1}, "isError": True}
    error = {"code": ["x"], "message": "no tea"}
    answers = {"deep": {"result": deep}, "code": {"error": error}, "echo": {"result": {}}}
    name = request.get("params", {}).get("name", "echo")
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answers[name]}), flush=True)
"""


def test_an_answer_that_no_server_should_give_is_an_answer(tmp_path: Path) -> None:
    """Whatever it holds, the client gets it, and the next."""
    program = tmp_path / "odd.py"
    program.write_text(ODD)
    with proxied(tmp_path, ("python3", str(program))) as peer:
        assert peer.fails("deep")
        odd = peer.request("tools/call", {"name": "code", "arguments": {}})["error"]
        assert (odd["code"], odd["message"][:6]) == (["x"], "no tea")
        assert peer.call("echo") == {}
