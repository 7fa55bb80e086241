"""What both programs can say alike: labels as words. A label that is missing never leaves a gap in a sentence."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

LABELS: Final[Mapping[str, str]] = {
    "service": (
        "{{ with $labels.service_name }}{{ . }}{{ else }}a service without a name{{ end }}"
        "{{ with $labels.deployment_environment_name }} ({{ . }}){{ end }}"
    ),
    "agent": "{{ with $labels.gen_ai_agent_name }}{{ . }}{{ else }}An agent{{ end }}",
    "tool": "{{ with $labels.gen_ai_tool_name }} in tool {{ . }}{{ end }}",
    "type": "{{ with $labels.error_type }}{{ . }}{{ else }}A failure{{ end }}",
    "version": "{{ with $labels.service_version }}{{ . }}{{ else }}unknown{{ end }}",
    "threshold": "{{ with $labels.errcompact_threshold }}{{ . }}{{ else }}unknown{{ end }}",
    "action": "{{ with $labels.errcompact_action }}{{ . }}{{ else }}unknown{{ end }}",
    # The sentence has a full stop of its own.
    "message": (
        '{{ with $labels.errcompact_template }}{{ reReplaceAll "[.]+$" "" . }}{{ else }}'
        "{{ with $labels.errcompact_class }}Error class {{ . }}{{ else }}An error class{{ end }}, "
        "whose text has not arrived{{ end }}"
    ),
    "where": "{{ with $labels.errcompact_location }} at {{ . }}{{ end }}",
    "owner": "{{ with $labels.service_namespace }} Owner: {{ . }}.{{ end }}",
    "since": "{{ with $labels.since }} Failing since {{ . | humanizeTimestamp }}.{{ end }}",
    "hint": '{{ with $labels.errcompact_hint }} Hint: {{ reReplaceAll "[.]+$" "" . }}.{{ end }}',
    # Of all that escalated it may be another one.
    "run": "{{ with $labels.errcompact_run_id }} Run: {{ . }}.{{ end }}",
    "kind": "{{ with $labels.kind }}{{ . }}{{ else }}failing{{ end }}",
    "part": (
        "{{ with $labels.signal }}{{ . }} {{ $labels.problem }}{{ else }}failures in the plugin"
        "{{ with $labels.errcompact_stage }}'s stage {{ . }}{{ end }}{{ end }}"
        "{{ with $labels.exporter }} by the collector's exporter {{ . }}{{ end }}"
        "{{ with $labels.receiver }} by the collector's receiver {{ . }}{{ end }}"
    ),
}
"""Go templates that Prometheus and Grafana understand alike."""

_WORD: Final = re.compile(r"\[\[(\w+)]]")


def filled(text: str, *, value: str, unit: str) -> str:
    """
    Return a text with a template in place of each word.

    Args:
        text: What is said.
        value: What the program calls the alert's value.
        unit: What it is counted in.

    Raises:
        KeyError: `LABELS` lacks a word.
    """
    number = f'printf "%.0f" {value}'
    known = {
        **LABELS,
        "value": f"{{{{ {number} }}}}" + (" %" if unit == "percent" else ""),
        "times": f'{{{{ if eq ({number}) "1" }}}}once{{{{ else }}}}{{{{ {number} }}}} times{{{{ end }}}}',
    }
    return _WORD.sub(lambda word: known[word[1]], text)
