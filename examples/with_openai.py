"""A tool loop of one's own over the Responses API, which a transport plays. Run: python with_openai.py."""

import json

import httpx2
from openai import OpenAI

import otel_errcompact as errcompact
from otel_errcompact.integrations.openai import answered

PRICES = {"tea": 2}
QUESTIONS = ("How much is tea?", "How much is coffee?")


def price(item: str) -> int:
    """Look up a price."""
    return PRICES[item]


def api(request: httpx2.Request) -> httpx2.Response:
    """Play a model that says what it does, and never accepts that there is no coffee."""
    items = json.loads(request.content)["input"]
    answers = [item["output"] for item in items if item.get("type") == "function_call_output"]
    for answer in answers[-1:]:
        print(f"the model reads: {answer}")
    item = "tea" if items[0]["content"] == QUESTIONS[0] else "coffee"
    words = f"Tea is {answers[-1]}." if item == "tea" and answers else f"I look up the price of {item}."
    text = {"type": "output_text", "text": words, "annotations": []}
    output = [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [text]}]
    if not words.startswith("Tea"):
        call_id, arguments = f"call_{len(items)}", json.dumps({"item": item})
        call = {"type": "function_call", "id": "fc_1", "call_id": call_id, "name": "price", "arguments": arguments}
        output.append(call)
    reply = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt", "status": "completed"}
    return httpx2.Response(200, json={**reply, "output": output})


def main() -> None:
    """Ask what the model can answer, and what it cannot."""
    client = OpenAI(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(api)))
    for question in QUESTIONS:
        history = [{"role": "user", "content": question}]
        with errcompact.run(agent="shop") as run:
            try:
                while True:
                    run.check()  # the gate: before each request
                    run.begin_turn()  # the calls of one answer are one turn
                    reply = client.responses.create(model="gpt", input=history)
                    history += [item.model_dump(exclude_none=True) for item in reply.output]
                    calls = [item for item in reply.output if item.type == "function_call"]
                    if not calls:  # messages and reasoning alone: the model has finished
                        break
                    history += [answered(call, {"price": price}) for call in calls]
                print(reply.output_text)
            except errcompact.RunHalted as stop:
                print(f"stopped: {stop}")
        print(run.report().to_markdown())


if __name__ == "__main__":
    main()
