"""Anthropic's client, which makes spans of its own, also of the tools that its runner calls."""

from __future__ import annotations

import httpx2
from anthropic import Anthropic, beta_tool
from frameworks.orders import find_order

PACKAGES = {
    "native": ["anthropic==2.12.0"],
    "openinference": ["anthropic==2.12.0", "openinference-instrumentation-anthropic==3.1.0"],
    "openllmetry": ["anthropic==2.12.0", "opentelemetry-instrumentation-anthropic==0.62.4"],
    "official": ["anthropic==2.12.0", "opentelemetry-instrumentation-genai-anthropic==1.3b0"],
}
ASKED = {"model": "claude-x", "max_tokens": 99, "messages": [{"role": "user", "content": "find it"}]}


def client(*answers):
    waiting = iter(answers)

    def answer(request):
        status, body = next(waiting)
        return httpx2.Response(status, json=body)

    return Anthropic(
        api_key="none",
        base_url="http://model.test",
        max_retries=0,
        http_client=httpx2.Client(transport=httpx2.MockTransport(answer)),
    )


def said(stop, *content):
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "content": list(content)}
    return 200, {**message, "stop_reason": stop, "stop_sequence": None, "usage": usage}


def call(call_id, order):
    return said("tool_use", {"type": "tool_use", "id": call_id, "name": "find_order", "input": {"order": order}})


DONE = said("end_turn", {"type": "text", "text": "done"})


def handled():
    """The tool fails, the model reads it and corrects itself."""
    asked = client(call("c1", "A-1"), call("c2", "A-2"), DONE)
    asked.beta.messages.tool_runner(**ASKED, tools=[beta_tool(find_order)]).until_done()


def model_failed():
    """The model's call fails, and works the second time."""
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    asked = client((529, overloaded), DONE)
    try:
        asked.messages.create(**ASKED)
    except Exception as error:
        print(" ", type(error).__name__)
    asked.messages.create(**ASKED)


SCENARIOS = [handled, model_failed]


def openinference(provider):
    from openinference.instrumentation.anthropic import AnthropicInstrumentor

    AnthropicInstrumentor().instrument(tracer_provider=provider)


def openllmetry(provider):
    from opentelemetry.instrumentation.anthropic import AnthropicInstrumentor

    AnthropicInstrumentor().instrument(tracer_provider=provider)


def official(provider):
    from opentelemetry.instrumentation.genai.anthropic import AnthropicInstrumentor

    AnthropicInstrumentor().instrument(tracer_provider=provider)


INSTRUMENTATIONS = {
    "native": lambda provider: None,
    "openinference": openinference,
    "openllmetry": openllmetry,
    "official": official,
}
