"""The hosts, a file each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hosts_rig.hosts.claude_code import ClaudeCode
from hosts_rig.hosts.codex import Codex
from hosts_rig.hosts.copilot import Copilot
from hosts_rig.hosts.gemini import Gemini
from hosts_rig.hosts.opencode import OpenCode

if TYPE_CHECKING:
    from hosts_rig.hosts.host import Host

HOSTS: Final[dict[str, Host]] = {host.name: host for host in (ClaudeCode(), Codex(), Gemini(), Copilot(), OpenCode())}
