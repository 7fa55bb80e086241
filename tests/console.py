"""What the SDK's console exporters write, apart from what the program itself prints."""

from __future__ import annotations

import json
from typing import Any, NamedTuple


class Console(NamedTuple):
    """Standard output, taken apart."""

    printed: list[str]
    """The program's own lines."""

    spans: list[dict[str, Any]]
    points: list[dict[str, Any]]
    """The data points of `errcompact.errors`."""

    metrics: dict[str, list[dict[str, Any]]]
    """The data points that were exported last, by metric."""


def read(output: str) -> Console:
    """Take standard output apart: an exported document stands between a line `{` and a line `}`."""
    printed: list[str] = []
    documents: list[Any] = []
    lines = iter(output.splitlines())
    for line in lines:
        if line != "{":
            printed.append(line)
            continue
        document = [line]
        while document[-1] != "}":
            document.append(next(lines))
        documents.append(json.loads("\n".join(document)))
    metrics = [
        metric
        for document in documents
        for resource in document.get("resource_metrics", ())
        for scope in resource["scope_metrics"]
        for metric in scope["metrics"]
    ]
    points = [
        point for metric in metrics if metric["name"] == "errcompact.errors" for point in metric["data"]["data_points"]
    ]
    return Console(
        printed,
        [document for document in documents if "name" in document],
        points,
        {metric["name"]: metric["data"]["data_points"] for metric in metrics},
    )
