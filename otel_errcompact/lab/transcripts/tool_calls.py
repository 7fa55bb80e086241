"""Tool calls as Chat Completions writes them, nested or flat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_errcompact.lab.transcripts.records import is_object

if TYPE_CHECKING:
    from otel_errcompact.lab.transcripts.records import Record
    from otel_errcompact.lab.transcripts.run_builder import RunBuilder


def request_call(call: Record, builder: RunBuilder, *, time_ns: int | None = None) -> None:
    """Add a call; the tool may be `function.name`, `name` or `function`."""
    is_custom = "custom" in call.fields
    key, call_id = "custom" if is_custom else "function", call.text("id")
    is_flat = "arguments" in call.fields and not is_object(call.fields.get(key))
    function = call if is_flat else call.child(key)
    builder.request(
        call_id,
        call_id=call_id,
        tool=function.text("name") or (call.text(key) if is_flat else ""),
        arguments=function.json("input" if is_custom else "arguments"),
        time_ns=time_ns,
    )
