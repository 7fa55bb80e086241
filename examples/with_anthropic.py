"""The tool runner of the Anthropic SDK, over a transport that plays the API. Run: python with_anthropic.py."""

import json

import httpx2
from anthropic import Anthropic, beta_tool

import otel_errcompact as errcompact
from otel_errcompact.integrations.anthropic import compacted, guarded

PRICES = {"tea": 2}


@compacted
@beta_tool
def price(item: str) -> str:
    """Look up a price."""
    return str(PRICES[item])


def api(request: httpx2.Request) -> httpx2.Response:
    """Show what the model reads, and ask for the price of coffee for ever."""
    last = json.loads(request.content)["messages"][-1]["content"]
    for block in last if isinstance(last, list) else ():
        print(block["content"][0]["text"] if isinstance(block["content"], list) else block["content"])
    call = {"type": "tool_use", "id": "toolu_1", "name": "price", "input": {"item": "coffee"}}
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [call],
        "usage": usage,
    }
    return httpx2.Response(200, json={**message, "stop_reason": "tool_use", "stop_sequence": None})


def main() -> None:
    """Play an agent that never learns."""
    client = Anthropic(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(api)))
    with errcompact.run(agent="shop") as run:
        runner = client.beta.messages.tool_runner(
            model="claude", max_tokens=100, tools=[price], messages=[{"role": "user", "content": "How much is coffee?"}]
        )
        try:
            for _ in guarded(runner):
                pass
        except errcompact.RunHalted as stop:
            print(f"stopped: {stop}")
    print(run.report().to_markdown())


if __name__ == "__main__":
    main()
