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
    "class": "{{ with $labels.errcompact_class }}{{ . }}{{ else }}unknown{{ end }}",
    "version": "{{ with $labels.service_version }}{{ . }}{{ else }}unknown{{ end }}",
    "threshold": "{{ with $labels.errcompact_threshold }}{{ . }}{{ else }}unknown{{ end }}",
    "action": "{{ with $labels.errcompact_action }}{{ . }}{{ else }}unknown{{ end }}",
    "part": (
        "{{ with $labels.errcompact_stage }}failures in the plugin's stage {{ . }}{{ end }}"
        "{{ with $labels.signal }}{{ . }} {{ $labels.problem }}{{ end }}"
        "{{ with $labels.exporter }} by the collector's exporter {{ . }}{{ end }}"
        "{{ with $labels.receiver }} by the collector's receiver {{ . }}{{ end }}"
    ),
}
"""Go templates that Prometheus and Grafana understand alike."""

_WORD: Final = re.compile(r"\[\[(\w+)]]")


def filled(text: str, *, value: str, unit: str, template: str) -> str:
    """
    Return a text with a template in place of each word.

    Args:
        text: What is said.
        value: What the program calls the alert's value.
        unit: What it is counted in.
        template: How the program says an error class in words.

    Raises:
        KeyError: A word neither `words` nor `LABELS` knows.
    """
    number = f'printf "%.0f" {value}'
    known = {
        **LABELS,
        "value": f"{{{{ {number} }}}}" + (" %" if unit == "percent" else ""),
        "times": f'{{{{ if eq ({number}) "1" }}}}once{{{{ else }}}}{{{{ {number} }}}} times{{{{ end }}}}',
        "template": template,
    }
    return _WORD.sub(lambda word: known[word[1]], text)
