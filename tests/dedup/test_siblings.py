"""Near siblings: the same text with another cause keeps a template of its own."""

from __future__ import annotations

import pytest

from otel_errcompact.dedup.masking import mask

SIBLINGS = (
    ("null value in column {} of relation orders", "email", "sku"),
    ("duplicate key value violates unique constraint {}", '"users_email_key"', '"users_name_key"'),
    ("relation {} does not exist", '"orders_2024"', '"orders_2025"'),
    ("Unknown column '{}' in 'field list'", "total", "totals"),
    ("ORA-{}: table or view does not exist", "00942", "00904"),
    ("no such table: {}", "cart", "carts"),
    ("SQLSTATE[{}]: refused", "23000", "42S02"),
    ("No module named '{}'", "yaml", "toml"),
    ("cannot import name '{}' from 'app.models'", "User", "Order"),
    ("Cannot find module './{}'", "Button", "Input"),
    ("Cannot find package '{}' imported from src/a.mjs", "vite", "rollup"),
    ("package {} is not in std", "slices2", "maps2"),
    ("unresolved import `crate::{}`", "cart", "order"),
    ("class com.acme.{} not found", "Cart", "Order"),
    ("undefined reference to `{}'", "sqrt", "pow"),
    ("{}: command not found", "jq", "yq"),
    ("error: unexpected argument '{}' found", "--jobs", "--release"),
    ("unknown flag: {}", "--kubeconfig", "--context"),
    ("unrecognized arguments: {}", "--foo", "--bar"),
    ("option '{}' requires an argument", "-o", "-I"),
    ("invalid choice: '{}' (choose from 'a', 'b')", "c", "d"),
    ("ENOENT: no such file or directory, open '{}'", "config/a.json", "config/b.json"),
    ("cannot open '{}'", "/home/dev/app/tests/a.py", "/home/dev/app/src/a.py"),
    ("cannot open '{}'", "/workspace/src/a.py", "/workspace/tests/a.py"),
    ("cannot open {}", "packages/web/src/a.ts", "packages/api/src/a.ts"),
    ("cannot open {}", "report_2024.csv", "report_2025.csv"),
    ("denied: '/etc/app/{}'", "a.conf", "b.conf"),
    ("[Errno {}] failed: '/tmp/x'", "13", "28"),
    ("os error {}", "(os error 2)", "(os error 13)"),
    ("[WinError {}] failed", "5", "32"),
    ("exit code {}", "1", "137"),
    ("killed by signal {}", "9", "11"),
    ("HTTP {}: refused", "401", "403"),
    ("returned error: {}", "403", "404"),
    ("Error code: {} - {{'error': 'x'}}", "429", "500"),
    ("grpc status = {}", "Unavailable", "DeadlineExceeded"),
    ("rpc error: code = {} desc = failed", "NotFound", "PermissionDenied"),
    ("MCP error {}: failed", "-32601", "-32602"),
    ("dial tcp db:{}: connection refused", "5432", "6379"),
    ("connect ECONNREFUSED 127.0.0.1:{}", "3306", "9200"),
    ("address already in use :::{}", "3000", "8080"),
    ("could not translate host name {}", '"db"', '"cache"'),
    ("requires numpy{}", ">=2.0", ">=1.26"),
    ("requires numpy{} but 1.5.0 is installed", ">=2.0", "<1.5"),
    ("{} depends on react@18.2.0", "react-dom@18.2.0", "next@14.1.0"),
    ("requires Python {}", "3.11", "3.12"),
    ("No matching distribution found for torch=={}", "2.1.0", "2.2.0"),
    ("Unsupported engine: node {}", "v18.1.0", "v20.1.0"),
    ("invalid value {} for level", "Verbose", "Silent"),
    ("Input should be '{}'", "asc", "desc"),
    ("items.0.{}: Field required", "qty", "sku"),
    ("error[{}]: borrow", "E0382", "E0502"),
    ("error {}: no", "TS2345", "TS2322"),
    ("a.py:1:1: {} unused", "F401", "F841"),
    ("warning: unused variable: `{}`", "x1", "y1"),
    ("CVE-{} found", "2021-44228", "2021-45046"),
    ("model '{}' not found", "gpt-4o-2024-08-06", "gpt-4o-2024-11-20"),
    ("model_id={} not found", "claude-3-5-sonnet-20241022", "claude-3-7-sonnet-20250219"),
    ("plugin id '{}' was not found", "com.acme.lint2", "com.acme.test2"),
    ("'{}' codec can't decode byte", "utf-8", "utf-16"),
    ("read timeout of {} reached", "connect", "pool"),
    ("User {} lacks s3:GetObject", "reader", "writer"),
    ("not authorized to perform: s3:{}", "GetObject", "PutObject"),
    ('job "{}" failed', "build-linux", "build-macos"),
    ('pod "{}" not found', "web-6d4cf56db6-x2x7z", "cache-6d4cf56db6-x2x7z"),
    ('deployments.apps "{}" not found', "web", "api"),
    ("couldn't find remote ref {}", "feature-42", "release-42"),
    ("FAILED tests/test_a.py::{}", "test_one", "test_two"),
    ("foo() argument {} must be str", "1", "2"),
    ("maximum context length is {}", "8192", "131072"),
    ("CUDA {} is too old", "11.8", "12.1"),
    ("GLIBC_{} not found", "2.34", "2.38"),
    ("libcudart.so.{}: cannot open", "11", "12"),
    ("Unexpected token {}", "<", "}"),
    ("session {} expired", "cookie", "storage"),
)
"""A text, and two words that are two causes."""


@pytest.mark.parametrize(("text", "one", "other"), SIBLINGS)
def test_siblings_stay_apart(text: str, one: str, other: str):
    """One word of the cause is enough."""
    assert mask(text.format(one)) != mask(text.format(other))


@pytest.mark.parametrize(("text", "one", "other"), SIBLINGS)
def test_templates_of_siblings_are_their_own(text: str, one: str, other: str):
    """A template is masked already."""
    assert [mask(mask(text.format(word))) for word in (one, other)] == [
        mask(text.format(word)) for word in (one, other)
    ]
