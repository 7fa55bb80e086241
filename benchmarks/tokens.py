"""
How far the estimators of tokens are from a real tokenizer, and what each costs; docs/context.md has the ends of it.

Needs tiktoken and its encoding. Where tiktoken cannot fetch it, `--ranks` reads it from the npm package of the same
name: `npm pack tiktoken && tar xzf tiktoken-*.tgz`, then `--ranks package/encoders/o200k_base.json`; so it reads
`cl100k_base.json`, and `claude.json` of `npm pack @anthropic-ai/tokenizer`, for the estimator of these.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import random
import statistics
import sys
import time
import unicodedata
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import tiktoken

from otel_errcompact.digest.tokens import ENCODING, PIECE, estimate_mixed_tokens, estimate_tokens, read_costs
from otel_errcompact_lab import transcripts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT: Final = Path(__file__).resolve().parents[1]
SHORTEST: Final = 200
"""Characters of the shortest text whose own error enters the percentiles."""

COLUMNS: Final = {ENCODING: 0, "cl100k_base": 1, "claude": 2}

SENTENCES: Final = {
    "German": "Die Verbindung zum Datenbankserver konnte nicht hergestellt werden. Größere Änderungen sind unnötig.",
    "Russian": "Не удалось подключиться к серверу базы данных. Проверьте настройки сети и повторите попытку.",  # noqa: RUF001
    "Arabic": "تعذر الاتصال بخادم قاعدة البيانات. يرجى التحقق من إعدادات الشبكة ثم المحاولة مرة أخرى.",
    "Hindi": "डेटाबेस सर्वर से कनेक्ट नहीं हो सका। कृपया नेटवर्क सेटिंग्स की जाँच करें और पुनः प्रयास करें।",
    "Chinese": "工具调用失败：无法连接到数据库服务器，请检查网络设置和防火墙规则，然后重试。",  # noqa: RUF001
    "Japanese": "データベースサーバーに接続できませんでした。ネットワークの設定を確認してください。",
    "Korean": "데이터베이스 서버에 연결할 수 없습니다. 네트워크 설정을 확인한 후 다시 시도하십시오.",
    "emoji": "✅ passed ❌ failed ⚠️ warning 🚀🔥🎉📦🧪 👩\u200d👩\u200d👧\u200d👦 🇩🇪",
    "box drawing": "┌──────┬──────┐\n│ name │ size │\n├──────┼──────┤\n│ a    │ 1    │\n└──────┴──────┘",
}


def samples(data: Path | None, texts: Path | None) -> Iterator[tuple[str, list[str]]]:
    """Yield the kinds of texts, each with its samples."""
    if texts is not None:
        for folder in sorted(path for path in texts.iterdir() if path.is_dir()):
            yield folder.name, [path.read_text("utf-8", "surrogatepass") for path in sorted(folder.iterdir())]
        return
    if data is not None:
        yield from _recorded(data)
    yield "Python code", [path.read_text("utf-8") for path in sorted((ROOT / "otel_errcompact").rglob("*.py"))]
    failures = sorted((ROOT / "corpus").rglob("*.txt"))
    yield "tool failures (tests/corpus)", [path.read_text("utf-8", "replace") for path in failures]
    chance = random.Random(7)
    rows = [
        {"id": chance.randrange(10**6), "name": f"item {row}", "price": chance.random() * 100, "tags": ["new", "sale"]}
        for row in range(600)
    ]
    tables = [rows[at : at + 20] for at in range(0, len(rows), 20)]
    yield "JSON, compact", [json.dumps(table, separators=(",", ":")) for table in tables]
    yield "JSON, indented", [json.dumps(table, indent=2) for table in tables]
    yield "numbers as CSV", ["\n".join(f"{row['id']},{row['price']:.4f}" for row in table) for table in tables]
    hashes = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(400)]
    yield "hex hashes, a line each", ["\n".join(hashes[at : at + 20]) for at in range(0, 400, 20)]
    yield "base64", [base64.b64encode(chance.randbytes(1_500)).decode() for _ in range(30)]
    for name, text in SENTENCES.items():
        yield name, [text * 4]


def _recorded(data: Path) -> Iterator[tuple[str, list[str]]]:
    results: list[str] = []
    arguments: list[str] = []
    for path in transcripts.find([data]):
        for run in transcripts.read(path, on_problem=lambda problem: print(problem, file=sys.stderr)):
            if isinstance(run, transcripts.RecordedRun):
                results += [call.result for call in run.calls if call.result]
                arguments += [call.arguments for call in run.calls if call.arguments]
    yield "recorded tool results", results
    yield "recorded arguments", arguments


def counter(ranks: Path | None) -> Callable[[str], int]:
    """Return what counts the tokens truly."""
    encoding = tiktoken.get_encoding(ENCODING) if ranks is None else _encoding(ranks)

    def count(text: str) -> int:
        if encoding.name == "claude":
            text = unicodedata.normalize("NFKC", text)  # as its package does
        return sum(len(encoding.encode_ordinary(text[at : at + PIECE])) for at in range(0, len(text), PIECE))

    return count


def _encoding(path: Path) -> tiktoken.Encoding:
    read = json.loads(path.read_text("utf-8"))
    ranks: dict[bytes, int] = {}
    for line in filter(None, read["bpe_ranks"].split("\n")):
        _, first, *tokens = line.split(" ")
        ranks.update((base64.b64decode(token), rank) for rank, token in enumerate(tokens, int(first)))
    return tiktoken.Encoding(
        path.stem, pat_str=read["pat_str"], mergeable_ranks=ranks, special_tokens=read["special_tokens"]
    )


def _errors(texts: list[str], truth: list[int], estimate: Callable[[str], int]) -> str:
    guesses = [estimate(text) for text in texts]
    long = [guess / true for text, guess, true in zip(texts, guesses, truth, strict=True) if len(text) >= SHORTEST]
    ratios = long or [guess / true for guess, true in zip(guesses, truth, strict=True)]
    low = min(ratios) if len(ratios) < 20 else statistics.quantiles(ratios, n=100)[0]
    high = max(ratios) if len(ratios) < 20 else statistics.quantiles(ratios, n=100)[-1]
    return f"{sum(guesses) / sum(truth):.2f} | {low:.2f} - {high:.2f}"


def _microseconds(count: Callable[[str], int], texts: list[str]) -> float:
    rounds: list[float] = []
    for _ in range(5):
        started = time.perf_counter()
        for text in texts:
            count(text)
        rounds.append(time.perf_counter() - started)
    return min(rounds) * 1e9 / sum(map(len, texts))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder of recorded runs")
    parser.add_argument("--ranks", type=Path, help="the encoding as JSON, from the npm package")
    parser.add_argument("--texts", type=Path, help="a folder of texts for each kind in a folder, in place of all else")
    arguments = parser.parse_args()
    count, name_of_encoding = counter(arguments.ranks), arguments.ranks.stem if arguments.ranks else ENCODING
    estimate_mixed = partial(estimate_mixed_tokens, costs=read_costs(COLUMNS[name_of_encoding]))
    print("| text | texts | characters per token | a quarter of the characters: all | 1st - 99th percentile ", end="")
    print("| by bytes: all | 1st - 99th percentile |\n|---|---|---|---|---|---|---|")
    every: list[str] = []
    for name, texts in samples(arguments.data, arguments.texts):
        truth = [count(text) for text in texts]
        every += texts
        per_token = sum(map(len, texts)) / sum(truth)
        errors = " | ".join(_errors(texts, truth, estimate) for estimate in (estimate_tokens, estimate_mixed))
        print(f"| {name} | {len(texts)} | {per_token:.2f} | {errors} |")
    print("\n| counter | ns for a character |\n|---|---|")
    for name, measured in (
        ("a quarter of the characters", estimate_tokens),
        ("by bytes", estimate_mixed),
        (f"tiktoken, {name_of_encoding}", count),
    ):
        print(f"| {name} | {_microseconds(measured, every):.3g} |")


if __name__ == "__main__":
    main()
