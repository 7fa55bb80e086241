"""All contexts: some 180 texts that programs print, each with a place for a secret."""

from __future__ import annotations

from benchmarks.secrets.commands import COMMANDS
from benchmarks.secrets.files import FILES
from benchmarks.secrets.logs import LOGS
from benchmarks.secrets.prose import PROSE
from benchmarks.secrets.structures import STRUCTURES
from benchmarks.secrets.wire import WIRE

CONTEXTS = (*COMMANDS, *FILES, *WIRE, *STRUCTURES, *LOGS, *PROSE)
