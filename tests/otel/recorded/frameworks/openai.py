"""OpenAI's client, whose calls only instrumentations make spans of."""

from __future__ import annotations

import httpx2
from openai import OpenAI

PACKAGES = {
    "openinference": ["openai==3.54.0", "openinference-instrumentation-openai==0.1.66"],
    "openllmetry": ["openai==3.54.0", "opentelemetry-instrumentation-openai==0.62.4"],
    "official": ["openai==3.54.0", "opentelemetry-instrumentation-genai-openai==1.3b0"],
    "logfire": ["openai==3.54.0", "logfire==5.2.0"],
}
ERROR = {"error": {"message": "Rate limit reached for gpt-x", "type": "requests", "code": "rate_limit_exceeded"}}
MESSAGE = {"role": "assistant", "content": "done"}
ANSWER = {
    "id": "c-1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-x",
    "choices": [{"index": 0, "finish_reason": "stop", "message": MESSAGE}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}


def make():
    waiting = iter(((429, ERROR), (200, ANSWER)))

    def answer(request):
        status, body = next(waiting)
        return httpx2.Response(status, json=body)

    transport = httpx2.Client(transport=httpx2.MockTransport(answer))
    return OpenAI(api_key="none", base_url="http://model.test/v1", max_retries=0, http_client=transport)


CLIENTS = []


def model_failed():
    """The model's call fails, and works the second time."""
    client = make()
    for instrument in CLIENTS:
        instrument(client)
    for _ in range(2):
        try:
            client.chat.completions.create(model="gpt-x", messages=[{"role": "user", "content": "find it"}])
        except Exception as error:
            print(" ", type(error).__name__)


SCENARIOS = [model_failed]


def openinference(provider):
    from openinference.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=provider)


def openllmetry(provider):
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=provider)


def official(provider):
    from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=provider)


def logfire(recorder):
    import logfire

    logfire.configure(send_to_logfire=False, console=False, additional_span_processors=[recorder])
    CLIENTS.append(logfire.instrument_openai)


INSTRUMENTATIONS = {
    "openinference": openinference,
    "openllmetry": openllmetry,
    "official": official,
    "logfire": logfire,
}
