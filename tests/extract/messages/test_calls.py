"""Calls that no tool could take: one class per cause, whoever reports it."""

from __future__ import annotations

import json

import pytest

from otel_errcompact.compactor.classify import classify
from otel_errcompact.detector.kinds import kind_of
from otel_errcompact.errors import RawError
from otel_errcompact.extract.messages.calls import cause_of_call, read_call

UNKNOWN = (
    "unknown tool 'prize'; known tools: price, stock",
    "Error: prize is not a valid tool, try one of [price, stock].",
    "Error: Tool 'prize' not found",
    "Unknown tool name: 'prize'. Available tools: 'price', 'stock'",
    "Unknown tool: prize",
    "Unknown tool: 'prize'",
    "Tool prize not found in agent shop",
    "Tool prize not found. Please select a tool that is available.",
    'Error: Requested function "prize" not found.',
    'Tool "prize" not found in registry. Tools must use the exact names that are registered.',
    "<tool_use_error>Error: No such tool available: prize</tool_use_error>",
    "Error: Function prize not found.",
    "Tool 'prize' not found.\nAvailable tools: price, stock\n\nPossible causes:\n  1. LLM hallucinated the name",
    "Action 'prize' don't exist, these are the only available Actions:\nTool Name: price",
    "unsupported call: prize",
    "unsupported custom tool call: prize",
    "MCP error -32602: Unknown tool: prize",
    "MCP error -32602: Tool prize not found",
    "AI_NoSuchToolError: Model tried to call unavailable tool 'prize'. Available tools: price, stock.",
    "Tool prize is not registered. (arguments: {'item': 'tea'}). Please check the tool name and retry.",
    "there is no tool 'prize'; there are price, stock",
    "Unknown tool prize, should be one of: price, stock.",
    "Tool with name prize not found",
    '{"error": "Unknown tool: prize"}',
    "Error: The tool `prize` does not exist",
    "invalid tool name: prize",
    "No tool named 'prize' found",
    "Error: Unknown function prize",
    (
        'Traceback (most recent call last):\n  File "/app/loop.py", line 9, in run\n    call()\n'
        "agents.exceptions.ModelBehaviorError: Tool prize not found in agent shop"
    ),
)

MISSING_COMMA = (
    (
        'bad JSON arguments: Expecting \',\' delimiter: line 1 column 16 (char 15); before it: {"item": "tea" ; '
        'from there: "count": 2}'
    ),
    (
        "An error occurred while parsing tool arguments. Please try again with valid JSON. Error: Expecting ',' "
        "delimiter: line 1 column 15 (char 14)"
    ),
    "Error: Expecting ',' delimiter: line 1 column 15 (char 14)\n The argument must be in JSON format.",
    (
        "Error: Failed to parse tool arguments as JSON: Expecting ',' delimiter: line 1 column 15 (char 14). "
        "Please provide valid JSON arguments for the 'price' tool."
    ),
    (
        "Error while decoding function arguments: Expecting ',' delimiter: line 1 column 15 (char 14)\n\n"
        "Please make sure we can json.loads() the arguments and retry."
    ),
    "Error: Argument parsing failed. Exception: Expecting ',' delimiter: line 1 column 15 (char 14)",
    (
        'Function price arguments:\n\n{"item": "tea" 1}\n\nare not valid JSON. Received JSONDecodeError Expecting '
        "',' delimiter: line 1 column 15 (char 14)\nFor troubleshooting, visit: https://example.com/errors"
    ),
    "failed to parse function arguments: expected `,` or `}` at line 1 column 15",
    "Invalid JSON in arguments: Expected ',' or '}' after property value in JSON at position 14",
    (
        'AI_InvalidToolInputError: Invalid input for tool price: JSON parsing failed: Text: {"item": "tea" 1}.\n'
        "Error message: Expected ',' or '}' after property value in JSON at position 14"
    ),
    (
        "1 validation error for call[price]\n  Invalid JSON: expected `,` or `}` at line 1 column 15 "
        '[type=json_invalid, input_value=\'{"item": "tea" 1}\', input_type=str]'
    ),
    (
        "Invalid arguments for tool price: 1 validation error for price\n  Invalid JSON: expected `,` or `}` at line 1 "
        'column 15 [type=json_invalid, input_value=\'{"item": "tea" 1}\', input_type=str]'
    ),
    (
        '1 validation error:\n```json\n[\n  {\n    "type": "json_invalid",\n    "loc": [],\n'
        '    "msg": "Invalid JSON: expected `,` or `}` at line 1 column 15",\n'
        '    "input": "{\\"item\\" 1}"\n  }\n]\n```\n\n'
        "Fix the errors and try again."
    ),
    "Error: Invalid arguments for tool price: expected `,` or `}` at line 1 column 15",
    "MCP error -32602: Invalid JSON arguments: Expecting ',' delimiter: line 1 column 15 (char 14)",
)


def key(text: str) -> str:
    return classify(RawError(text=text, tool="x")).key


@pytest.mark.parametrize("text", UNKNOWN)
def test_a_tool_that_does_not_exist_is_one_class(text: str):
    """The name is what counts; the list of known tools differs by the day, and the sentence by the framework."""
    found = classify(RawError(text=text, tool="x"))
    assert found.facts.type == "UnknownTool"
    assert "prize" in found.facts.cause
    assert found.key == key(UNKNOWN[0])
    assert found.key != key(UNKNOWN[0].replace("prize", "prise"))
    assert kind_of(RawError(text=text, tool="x"), found.facts).rejected
    assert not found.facts.location


@pytest.mark.parametrize("text", MISSING_COMMA)
def test_arguments_that_are_no_json_are_one_class_by_what_the_parser_missed(text: str):
    """Each parser has words of its own for a missing comma."""
    found = classify(RawError(text=text, tool="x"))
    assert found.facts.type == "InvalidArguments"
    assert found.key == key(MISSING_COMMA[0])
    assert kind_of(RawError(text=text, tool="x"), found.facts).rejected


def test_what_parsers_miss_are_different_causes():
    """Cut off, without quotes, with something behind them."""
    texts = (
        MISSING_COMMA[0],
        "failed to parse function arguments: EOF while parsing a string at line 1 column 13",
        "bad JSON arguments: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        "bad JSON arguments: Extra data: line 1 column 20 (char 19)",
        "bad JSON arguments: Invalid \\escape: line 1 column 20 (char 19)",
        "bad JSON arguments: Invalid control character at: line 1 column 20 (char 19)",
        "bad JSON arguments: Expecting value: line 1 column 1 (char 0)",
        "bad JSON arguments: expected an object, got list",
        "Invalid JSON input for tool price",
        "Error: Argument parsing failed.",
    )
    assert len({key(text) for text in texts}) == len(texts)


@pytest.mark.parametrize(
    "text",
    [
        "Tool ffmpeg not found. Please install it with apt.",
        "Tool clang-format not found in PATH",
        "tool 'protoc' was not found on your system",
        'Function "FOO" not found; SQL statement: SELECT FOO()',
        "Invalid arguments: the file is too large",
        "1 validation error for Settings\n  Invalid JSON: expected value at line 1 column 1 [type=json_invalid]",
        "Function price arguments:\nnothing to see",
        "toolbox: unknown option",
        "nothing of the kind",
    ],
)
def test_other_messages_are_left_to_others(text: str):
    """A program that is not installed is no tool of the agent's, nor is every argument one of a call."""
    assert read_call(text) is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("failed to parse function arguments: missing field `cmd` at line 1 column 20", "ValidationError"),
        ("failed to parse function arguments: unknown field `cmds`, expected `cmd`", "ValidationError"),
        ("failed to parse function arguments: invalid type: string, expected u64", "InvalidArguments"),
        (("Error: Argument parsing failed. Exception: 1 validation error for price\nitem\n  Field required "
         "[type=missing, input_value={}, input_type=dict]"), "ValidationError"),
    ],
)  # fmt: skip
def test_arguments_that_are_json_and_do_not_fit_are_not_called_bad_json(text: str, kind: str):
    """What they break is the class, as elsewhere."""
    found = classify(RawError(text=text, tool="x"))
    assert found.facts.type == kind
    assert "no JSON" not in found.template


def test_fields_that_serde_misses_are_those_of_other_reporters():
    """One class per set of fields and rules."""
    serde = key("failed to parse function arguments: missing field `cmd` at line 1 column 20")
    assert serde == key("1 validation error for exec\ncmd\n  Field required [type=missing, input_value={}]")


BARE = (
    "Expecting ',' delimiter: line 1 column 15 (char 14)",
    "Error: Expecting ',' delimiter: line 1 column 9 (char 8)",
)


@pytest.mark.parametrize("text", BARE)
def test_bare_words_of_a_parser_are_about_the_arguments_where_these_are_no_json(text: str):
    """A loop that hands on `str(error)`; with good arguments the tool has parsed something else."""
    bad = RawError(text=text, tool="price", arguments='{"item": "tea" 1}')
    assert classify(bad).facts.type == "InvalidArguments"
    assert classify(bad).key == key(MISSING_COMMA[0])
    for arguments in ('{"item": "tea"}', ""):
        assert classify(RawError(text=text, tool="price", arguments=arguments)).facts.type != "InvalidArguments"


@pytest.mark.parametrize("text", ["'prize'", "KeyError: 'prize'", "Error: 'prize'", "KeyError('prize')"])
def test_a_key_that_is_the_tool_is_a_tool_that_does_not_exist(text: str):
    """`tools[name]` in a loop of one's own."""
    assert classify(RawError(text=text, tool="prize", arguments="{}")).key == key(UNKNOWN[0])
    assert classify(RawError(text=text, tool="price", arguments="{}")).facts.type != "UnknownTool"


def test_a_message_may_begin_with_the_word_error():
    """As that of a loop that hands on what it has caught."""
    assert read_call("Error: unknown tool 'prize'") is not None
    assert read_call("Error: the disk is full") is None


def test_texts_without_such_words_cost_a_look():
    """Nothing is found in them."""
    assert cause_of_call("no such row", "price", "{") == ""
    assert cause_of_call("", "price", "{") == ""
    assert cause_of_call("see column 3 of the table", "price", "{") == ""


def test_what_a_wrapper_states_of_arguments_counts_and_the_parser_says_why():
    """Frameworks raise their own error from the parser's."""

    def parse() -> None:
        try:
            json.loads('{"item": "tea" 1}')
        except ValueError as error:
            raise RuntimeError("Invalid JSON input for tool price") from error

    with pytest.raises(RuntimeError) as raised:
        parse()
    found = classify(RawError(text="", exception=raised.value, tool="price"))
    assert found.facts.type == "InvalidArguments"
    assert "Expecting ',' delimiter" in found.facts.cause
    assert not found.facts.location
    assert found.key == key(MISSING_COMMA[0])


def test_a_wrapper_that_states_nothing_of_arguments_leaves_the_parsers_error():
    """What was parsed was a file."""

    def parse() -> None:
        try:
            json.loads("{")
        except ValueError as error:
            raise RuntimeError("cannot read settings") from error

    with pytest.raises(RuntimeError) as raised:
        parse()
    found = classify(RawError(text="", exception=raised.value, tool="price"))
    assert found.facts.type == "json.decoder.JSONDecodeError"
