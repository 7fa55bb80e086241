"""A tool loop of one's own over the Responses API, which a transport plays. Run: python with_openai.py."""

import json

import httpx2
from openai import OpenAI

import otel_errcompact as errcompact
from otel_errcompact.integrations.openai import answered

PRICES = {"tea": 2}


def price(item: str) -> int:
    """Look up a price."""
    return PRICES[item]


def api(request: httpx2.Request) -> httpx2.Response:
    """Ask for the price of coffee for ever."""
    number = len(json.loads(request.content)["input"])
    arguments = json.dumps({"item": "coffee"})
    call = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": "price"}
    reply = {"id": f"resp_{number}", "object": "response", "created_at": 1, "model": "gpt", "status": "completed"}
    return httpx2.Response(200, json={**reply, "output": [{**call, "arguments": arguments}]})


def main() -> None:
    """Play an agent that never learns."""
    client = OpenAI(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(api)))
    history = [{"role": "user", "content": "How much is coffee?"}]
    with errcompact.run(agent="shop") as run:
        try:
            while True:
                run.check()  # the gate: before each request
                run.begin_turn()  # the calls of one answer are one turn
                reply = client.responses.create(model="gpt", input=history)
                history += [item.model_dump(exclude_none=True) for item in reply.output]
                for call in reply.output:
                    history.append(answered(call, {"price": price}))
                    print(history[-1]["output"])
        except errcompact.RunHalted as stop:
            print(f"stopped: {stop}")
    print(run.report().to_markdown())


if __name__ == "__main__":
    main()
