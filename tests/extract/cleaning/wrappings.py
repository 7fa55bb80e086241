"""Errors of many formats and of none, and what harnesses, runners and logs put around them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

BARE: Final = {
    "traceback": 'Traceback (most recent call last):\n  File "/a.py", line 3, in f\n    x["id"]\n\nKeyError: \'id\'',
    "compiler": "src/a.c:3:5: error: 'x' undeclared (first use in this function)\n    3 |  x = 1;\n      |  ^",
    "typed line": "ValueError: quantity must be positive, got -3",
    "one word": "Unauthorized",
    "sentence": "the tenant 'acme' has no active plan",
    "two sentences": "cannot open ledger 2024\nits checksum does not match",
    "shell": "deploy.sh: line 3: terrafrom: command not found",
    "program": "mv: cannot stat 'a.txt': No such file or directory",
    "two of a program": "mv: cannot stat 'a': No such file or directory\nmv: cannot stat b: No such file or directory",
    "severity": "error: no such target 'relase'",
    "level": "ERROR: could not connect to the broker at depot:5672",
    "node": "file:///srv/x.mjs:3\n  foo();\n  ^\n\nReferenceError: foo is not defined\n    at file:///srv/x.mjs:3",
    "go": "panic: runtime error: index out of range [3]\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/m.go:7",
    "go vet": "# shop\n./main.go:8:2: undefined: totl",
    "java": 'Exception in thread "main" java.lang.IllegalStateException: no rates\n\tat shop.Main.main(Main.java:7)',
    "rust": "error[E0425]: cannot find value `totl` in this scope\n --> src/main.rs:3:5",
    "mypy": 'src/a.py:3: error: Incompatible return value type (got "str", expected "int")  [return-value]',
    "unknown linter": 'proto/a.proto:3:1:Field name "fooBar" should be lower_snake_case.',
    "postgres": 'psql:seed.sql:3: ERROR:  relation "carts" does not exist\nLINE 1: select * from carts;',
    "mysql": "ERROR 2002 (HY000): Can't connect to local server through socket '/run/none.sock' (2)",
    "redis": "ERR unknown command 'GTE', with args beginning with: 'cart'",
    "http": "404 Client Error: Not Found for url: https://shop.test/orders/4711",
    "validation": "1 validation error for Order\nquantity\n  Input should be a valid integer [type=int_type]",
    "git": "fatal: not a git repository (or any of the parent directories): .git",
    "curl": "curl: (7) Failed to connect to depot port 80 after 0 ms: Connection refused",
    "bracketed": "[vite:css] Unknown word: culor",
    "bullets": "two checks failed:\n- changelog has no entry\n- version was not raised",
    "yaml": 'mapping values are not allowed here\n  in "ci.yml", line 7, column 12',
    "quoted": "'prog' is not recognized as an internal or external command",
    "unicode": "le fichier «\u00e9t\u00e9» n'a pas de somme: sha256 mismatch",
}


def _before(*prefixes: str) -> Callable[[str], str]:
    return lambda text: "\n".join(
        f"{prefixes[number % len(prefixes)]}{line}".rstrip() for number, line in enumerate(text.split("\n"))
    )


def _json(value: Callable[[str], object]) -> Callable[[str], str]:
    return lambda text: json.dumps(value(text))


WRAPPINGS: Final[dict[str, Callable[[str], str]]] = {
    "exit code before": lambda text: f"Exit code: 1\nWall time: 0.4 seconds\nOutput:\n{text}",
    "exit code with error": lambda text: f"Error: Exit code 1\n{text}",
    "tags with status": lambda text: f"<returncode>1</returncode>\n<output>\n{text}\n</output>",
    "error tags": lambda text: f"<tool_use_error>{text}</tool_use_error>",
    "reminder": lambda text: f"{text}\n<system-reminder>\nThe file was changed. error: see above\n</system-reminder>",
    "exited tag": lambda text: f"{text}\n<exited with exit code 1>",
    "completed": lambda text: f"{text}\n[The command completed with exit code 1.]\n[Current working directory: /srv]",
    "observation": lambda text: f"OBSERVATION:\n{text}\n(Open file: n/a)\n(Current directory: /srv)\nbash-$",
    "labels": lambda text: (
        f"Command: make check\nDirectory: (root)\nStdout: (empty)\nStderr: {text}\nError: (none)\nExit Code: 1\n"
        "Signal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 4711"
    ),
    "streams": lambda text: f"Exit code: 1\nStdout: (empty)\nStderr:\n{text}",
    "terminal": lambda text: f"[execute_command for 'make check'] Result:\nCommand executed.\nOutput:\n{text}",
    "question of a person": lambda text: f"I ran this command:\n\nAnd got this output:\n\n{text}",
    "host": lambda text: f"db-1 | FAILED | rc=2 >>\n{text}",
    "trailers": lambda text: f"{text}\nerror: command failed with exit code 1\nSee above for details.\nTook 3.1 s",
    "task failed": lambda text: f"{text}\nFinished in 1.2s\nERROR task failed",
    "codex": _json(lambda text: {"output": text, "metadata": {"exit_code": 1, "duration_seconds": 0.2}}),
    "node exec": _json(lambda text: {"code": 1, "killed": False, "signal": None, "stdout": "", "stderr": text}),
    "result of MCP": _json(lambda text: {"content": [{"type": "text", "text": text}], "isError": True}),
    "blocks": _json(lambda text: [{"type": "input_text", "text": text}]),
    "JSON-RPC": _json(
        lambda text: {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": text}]}}
    ),
    "tool message": _json(lambda text: {"role": "tool", "tool_call_id": "c1", "content": text}),
    "nested content": _json(lambda text: [{"type": "content", "content": {"type": "text", "text": text}}]),
    "JSON string": json.dumps,
    "string of Python": repr,
    "bytes of Python": lambda text: repr(text.encode()),
    "string of JavaScript": lambda text: " +\n  ".join(f"'{line}'" for line in _escaped(text)),
    "CallToolResult": lambda text: f"CallToolResult(content=[TextContent(type='text', text={text!r})], isError=True)",
    "model of pydantic": lambda text: f"meta=None content=[TextContent(type='text', text={text!r})] isError=True",
    "ToolMessage": lambda text: f"content={text!r} name='bash' tool_call_id='c1' status=<Status.ERROR: 'error'>",
    "CompletedProcess": lambda text: f"CompletedProcess(args=['make', '-k'], returncode=2, stdout='', stderr={text!r})",
    "ToolException": lambda text: f"Error: ToolException({text!r})\n Please fix your mistakes.",
    "ToolOutput": lambda text: f"ToolOutput({text!r})",
    "object of JavaScript": lambda text: f"{{ stdout: '', stderr: {text!r}, code: 1, signal: undefined }}",
    "fence": lambda text: f"```\n{text}\n```",
    "word and fence": lambda text: f"Output:\n\n```console\n{text}\n```\n\nExit code: 1",
    "quotation": lambda text: "\n".join(f"> {line}".rstrip() for line in f"{text}\n\n".split("\n")),
    "compose": _before("web-1  | "),
    "pid": _before("[pid 4711] "),
    "pid and level": _before("4711 ERROR worker: "),
    "number": _before("[4711] "),
    "Python log": _before(
        "[2026-01-01 10:00:00,123] ERROR depot.worker: ", "[2026-01-01 10:00:01,7] ERROR depot.worker: "
    ),
    "dashes": _before("2026-01-01 10:00:00,123 - depot.worker - ERROR - "),
    "loguru": _before("2026-01-01 10:00:00.123 | ERROR    | depot.worker:run:42 - "),
    "logback": _before("10:00:00.123 [main] ERROR c.e.Depot - "),
    "Spring": _before("2026-01-01T10:00:00.123+00:00 ERROR 4711 --- [main] c.e.Depot : "),
    "celery": _before("[2026-01-01 10:00:00,123: ERROR/ForkPoolWorker-1] "),
    "gunicorn": _before("[2026-01-01 10:00:00 +0000] [4711] [ERROR] "),
    "Ruby log": _before("E, [2026-01-01T10:00:00.123456 #4711] ERROR -- : "),
    "zap": _before("2026-01-01T10:00:00.123Z\tERROR\tdepot/run.go:12\t"),
    "kernel": _before("[  12.345678] "),
    "syslog": _before("Jan 12 10:00:00 host-1 depot[4711]: "),
    "ctime": _before("Thu Jan  1 10:00:00 2026 "),
    "clock": _before("[12:00:01] ", "[12:00:02] "),
    "Go log": _before("2026/01/01 10:00:00 "),
    "Heroku": _before("2026-01-01T10:00:00+00:00 app[web.1]: "),
    "root logger": _before("ERROR:root:"),
    "hosted CI": _before("2026-01-01T10:00:00.1234567Z "),
    "job and step": _before("build\tcompile\t2026-01-01T10:00:00.1234567Z "),
    "mise": _before("[lint:go] "),
    "pod": _before("[pod/depot-5d9f/api] "),
    "turbo": _before("web:build: "),
    "scoped package": _before("@acme/web:test: "),
    "pnpm": _before("packages/web build: "),
    "image build": _before("#12 0.345 ", "#12 0.346 "),
    "foreman": _before("10:00:00 web.1  | "),
    "CRLF and indentation": lambda text: text.replace("\n", "\r\n") if "\n" not in text else _indent(text),
    "colours": lambda text: f"\x1b[31m{text}\x1b(B\x1b[m",
    "MCP in a fence in a log": lambda text: _before("10:00:00 ")(f"```json\n{WRAPPINGS['result of MCP'](text)}\n```"),
    "tags in a string in JSON": lambda text: json.dumps({"output": f"<error>{text}</error>", "exit_code": 1}),
}
"""What stands around an error; the key is that of the bare one."""


def _indent(text: str) -> str:
    return "\r\n".join(f"    {line}" for line in text.split("\n"))


def _escaped(text: str) -> list[str]:
    lines = [line.replace("\\", "\\\\").replace("'", "\\'") for line in text.split("\n")]
    return [*(f"{line}\\n" for line in lines[:-1]), lines[-1]]
