"""All contexts: some 180 texts that programs print, each with a place for a secret."""

from __future__ import annotations

from benchmarks.secrets.texts.commands import COMMANDS
from benchmarks.secrets.texts.files import FILES
from benchmarks.secrets.texts.logs import LOGS
from benchmarks.secrets.texts.prose import PROSE
from benchmarks.secrets.texts.structures import STRUCTURES
from benchmarks.secrets.texts.wire import WIRE

CONTEXTS = (*COMMANDS, *FILES, *WIRE, *STRUCTURES, *LOGS, *PROSE)
