"""
Measure how many rules of the scanner gitleaks redaction covers: `python -m benchmarks.secrets.gitleaks FILE`.

FILE is `config/gitleaks.toml` of a checkout of gitleaks; nothing of it is kept here. Three samples of each rule are
made from its regular expression and put into an error text, behind the vendor's name where the rule asks for one. A
rule is covered if no sample is left in the text.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tomllib
from pathlib import Path
from re import _constants as constants  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final

from otel_errcompact.redaction.redact import redact

SAMPLES: Final = 3
MAX_SHOWN: Final = 160
MORE: Final = 8
"""Repetitions beyond the least that a sample may have."""

MIN_LEFT: Final = 12
"""Characters of a secret's end that say too much."""

_OF_RE2: Final = (("[[:alnum:]]", "[A-Za-z0-9]"), ("[:alnum:]", "A-Za-z0-9"), ("[:word:]", r"\w"), (r"\z", r"\Z"))
_BEHIND_A_NAME: Final = re.compile(r"\[\\x60'\"\\s=\]\{0,5\}(\(.*\))\(\?:\[\\x60")
_CATEGORIES: Final = {
    constants.CATEGORY_WORD: "abcdefghijk0123456789ABCDEFGHIJ",
    constants.CATEGORY_DIGIT: "0123456789",
    constants.CATEGORY_SPACE: " ",
    constants.CATEGORY_NOT_SPACE: "aZ9bY8",
}
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFXYZ"


def main() -> int:
    """Print the rules that are not covered, and the share of those that are; return the exit code."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.secrets.gitleaks", description=__doc__)
    options.add_argument("file", type=Path, help="gitleaks.toml")
    options.add_argument("--seed", type=int, default=7)
    asked = options.parse_args()
    try:
        rules = tomllib.loads(asked.file.read_text(encoding="utf-8"))["rules"]
    except (OSError, tomllib.TOMLDecodeError, KeyError) as error:
        print(f"benchmarks.secrets.gitleaks: {asked.file} is no configuration of gitleaks: {error!r}", file=sys.stderr)
        return 2
    random_ = random.Random(asked.seed)
    token_shaped, behind_names = [], []
    for rule in rules:
        if "regex" in rule:
            group = behind_names if _BEHIND_A_NAME.search(rule["regex"]) else token_shaped
            left = find_left(rule, random_)
            group.append(not left)
            if left:
                print(f"not covered: {rule['id']}: {left[:MAX_SHOWN]}")
    for name, group in (("token-shaped", token_shaped), ("all", token_shaped + behind_names)):
        print(f"{name}: {sum(group)} of {len(group)} rules, {sum(group) / len(group):.1%}")
    return 0


def find_left(rule: dict[str, Any], random_: random.Random) -> str:
    """Return a text of which redaction leaves the secret; empty if it takes each sample of the rule."""
    for _ in range(SAMPLES):
        secret, text = sample(rule["id"], rule["regex"], random_)
        redacted = redact(text)
        core = secret.strip("\"'` ;\n")
        if core in redacted or (len(core) > MIN_LEFT and core[-MIN_LEFT:] in redacted):
            return redacted
    return ""


def sample(rule_id: str, regex: str, random_: random.Random) -> tuple[str, str]:
    """Return a secret that a rule finds, and a text with it."""
    named = _BEHIND_A_NAME.search(regex)
    made = make(parser.parse(translate(named[1] if named else regex)), random_)
    matched = re.search(translate(named[1] if named else regex), made, re.IGNORECASE)
    # What a rule finds is its first group, where it has one.
    secret = (matched and matched.lastindex and matched[1]) or made
    if not named:
        return secret, f"error: request with {made} was refused"
    name = rule_id.replace("-", "_")
    forms = (f'{name} = "{secret}"', f'"{name}": "{secret}"', f"{name.upper()}={secret}")
    return secret, random_.choice(forms)


def translate(regex: str) -> str:
    """Return a regular expression of RE2 as Python reads it, without flags in its middle."""
    for there, here in _OF_RE2:
        regex = regex.replace(there, here)
    return regex.replace("(?i)", "")


def make(tree: Any, random_: random.Random) -> str:
    """Return a text that a parsed regular expression matches."""
    made = ""
    for kind, value in tree:
        if kind is constants.LITERAL:
            made += chr(value)
        elif kind is constants.NOT_LITERAL:
            made += random_.choice(_LETTERS.replace(chr(value), ""))
        elif kind is constants.ANY:
            made += "."  # what most rules that forgot to escape it mean
        elif kind is constants.IN:
            made += choose(value, random_)
        elif kind in {constants.MAX_REPEAT, constants.MIN_REPEAT}:
            least, most, repeated = value
            times = random_.randint(least, min(most, least + MORE)) if least else 0
            made += "".join(make(repeated, random_) for _ in range(times))
        elif kind is constants.SUBPATTERN:
            made += make(value[3], random_)
        elif kind is constants.BRANCH:
            made += make(random_.choice(value[1]), random_)
    return made


def choose(members: list[Any], random_: random.Random) -> str:
    """Return a character of a class, a letter or a digit if it has one."""
    characters = ""
    for kind, value in members:
        if kind is constants.LITERAL:
            characters += chr(value)
        elif kind is constants.RANGE:
            characters += "".join(map(chr, range(value[0], value[1] + 1)))
        elif kind is constants.CATEGORY:
            characters += _CATEGORIES[value]
    if members[0][0] is constants.NEGATE:
        characters = "".join(sorted(set(_LETTERS) - set(characters)))
    return random_.choice("".join(filter(str.isalnum, characters)) or characters or "x")


if __name__ == "__main__":
    sys.exit(main())
