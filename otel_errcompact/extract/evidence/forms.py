"""
Forms that lines of any program share: frames, progress, advice.

All but a few are for lines in small letters: a pattern that ignores case is several times as slow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.table import patterns_of
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    import re


def _any_of(*forms: str) -> re.Pattern[str]:
    return lazy_pattern("|".join(forms))


_NUMBER: Final = "[0-9]{1,9}"

GUTTER: Final = lazy_pattern(
    r"[\u2500-\u257f|\u00a6!*\u2022\u2718\u2716\u2717\u00d7\u274c\u25cf\u25b6\u276f>-]{1,3}\ufe0f? +(?=\S)"
)
"""What a program draws before each line of a message."""

REPEATED: Final = lazy_pattern(lambda: rf"(?:{patterns_of('margins')}) +(?=\S)")
"""What an installer and a builder of images put before the output of a program."""

BANNER: Final = lazy_pattern(r"([-=*#_~+\u2500-\u257f\u2581-\u2588])\1{2,}")
SOURCE: Final = lazy_pattern(r"(?:(?:[>\u2192*] ?)?[0-9]{1,6} ?[|\u2502\u2503](?: |$)|\^|~{2,})")
FRAME: Final = _any_of(
    rf"at .{{1,300}}(?:\([^()]*\)|:{_NUMBER}(?::{_NUMBER})?\)?)$",
    r"at \[?(?:native|internal|eval|<anonymous>)\b",
    r"file \"[^\"]{1,400}\", line [0-9]",
    rf"from [^\s:]{{1,400}}:{_NUMBER}:in\b",
    rf"(?:\w{{1,20}}: )?[^\s:]{{1,400}}:{_NUMBER}: ?in (?:[`'<]|function|main|method|upvalue|field|local)",
    rf"[^\s:]{{1,400}}:{_NUMBER} in [<\w]",
    r"#?[0-9]{1,4}[.:]? .{1,300} @ 0x[0-9a-f]{6,16}$",
    r"#[0-9]{1,4} +(?:0x[0-9a-f]|\S{1,300} ?\(|\S.{0,300}[(:][0-9])",
    r"[0-9]{1,4}: +(?:0x[0-9a-f]{4,16} - |\(|[\w:<>$]{1,300}::[\w:<>${}]{1,300}$)",
    rf"(?:\.\.\.|\u2026) ?(?:and )?{_NUMBER} (?:more|common|frames?|lines?|levels?|other|internal)\b",
    rf"goroutine {_NUMBER} \[|\S{{1,300}}\.go:{_NUMBER} \+0x|created by \S{{1,300}} in goroutine",
    rf"\[c\]: in |\(?\w{{1,60}}(?: [0-9.]{{1,20}}\))? lib/\S{{1,300}}:{_NUMBER}: |(?:error: )?called from \S",
    r"(?:full |python |java |native )?(?:stack ?trace|back ?trace|call stack|traceback|stack backtrace)\b[^:]{0,40}:?$",
    r"traceback \(most recent call last\)|\[previous line repeated",
)

SIGN_OF_FRAME: Final = lazy_pattern(r"[0-9(\[]")
WORDS_OF_FRAMES: Final = ("trace", "Trace", "stack", "Stack", "raceback", "raceBack", "STACK", "TRACE", "called from")
"""What each line of a stack has, one or the other."""

PROGRESS: Final = _any_of(
    r"(?:[\w@./-]{1,30}: )?[\[(] ?[0-9]{1,7} ?(?:/|of) ?[0-9]{1,7} ?[\])]"
    r"|[0-9]{1,7}/[0-9]{1,7} |\[? ?[0-9]{1,3}(?:\.[0-9]{1,4})? ?%",
    r"section_(?:start|end):[0-9]|##\[(?:section|group|endgroup|debug)\]",
    r"(?:==>|=>|-->|:::?|::group::|> task ) ?\w|(?:get|hit|ign):[0-9]|step [0-9]{1,4}(?:/[0-9]{1,4})?\b",
    r"(?:successfully )?(?:downloaded|fetched|installed|resolved|created|updated|copied|loaded|started|finished|built"
    r"|compiled|generated|unpacked|cached|cloned|pulled|pushed|connected|configured|initiali[sz]ed|reused|saved|wrote"
    r"|uploaded|added|removed|deleted|selected|prepared|audited|linked|checked|completed|processed|collected) ",
    r"(?:\S{1,30}: )?(?:entering|leaving) directory |found [\w.+-]{1,60}: \S|[() ]{0,4}\(\S{1,100}/tex(?:mf|live)\S",
)
BAR: Final = lazy_pattern(
    r"[0-9] ?%(?: ?[|\[]|$)|[\u2588\u2593\u2501]{3}|[#=]{5,}>?|[0-9] ?[kKMGT]i?B/s|\bETA\b|(?:\.\.\.|\u2026)$"
)
SIGNS_OF_BARS: Final = ("%", "...", "\u2026", "B/s", "ETA", "#####", "=====", "\u2588", "\u2593", "\u2501")
GERUND: Final = lazy_pattern(r"(?:(?:==?>|-->|[*+-]|now|still) )?(?P<verb>[a-z]{2,14}ing)\b")
NO_PROGRESS: Final = frozenset((
    "missing", "warning", "string", "nothing", "something", "anything", "everything", "during", "failing",
    "conflicting", "existing", "offending", "dangling", "remaining", "pending", "following", "including",
    "regarding", "trailing", "leading", "according", "setting", "ring", "king", "thing", "spring", "ping",
    "rejecting", "refusing", "denying", "overlapping", "breaking", "timing", "being", "having", "aborting",
    "expecting", "exiting", "terminating", "giving", "stopping", "quitting", "bailing",
))  # fmt: skip
"""Words like a gerund that begin no report of progress."""

SUCCESS: Final = _any_of(
    r"[\u2713\u2714\u2705\u2611] ?|\(pass\)|\[ {0,2}(?:ok|pass(?:ed)?|success|done) {0,2}\]",
    r"(?:ok|pass(?:ed)?|success|done)(?::|\b(?! to\b))",
)
WORDS_OF_SUCCESS: Final = ("success", "pass", "ok", "done", "\u2713", "\u2714", "\u2705", "\u2611")
WORDS_OF_NIL: Final = ("0", "no ", "zero ", "without ")
NIL_COUNT: Final = _any_of(
    r"\b(?:0|no|zero|without) (?:\w{1,20} ){0,2}?(?:errors?|issues?|problems?|failures?|failed|warnings?|skipped"
    r"|vulnerabilities|violations?|conflicts?|exceptions?)\b",
    r"\b(?:errors?|failures?|failed|warnings?|skipped|issues?)[:=] ?0\b",
)
"""A count of failures that is none."""

LEVEL: Final = lazy_pattern(
    lambda: (
        r"(?:[^\n\]|]{0,60}?[\[| ])?(?P<level>INFO|DEBUG|TRACE|NOTICE|VERBOSE|WARN(?:ING)?)(?=[\]:|\s]|$)"
        r"|[\[%]?(?P<small>(?i:info|debug|trace|notice|warn(?:ing)?))\]?"
        r"(?:\[[\w-]{1,60}\]|-[A-Z]{2,40}| [A-Z]{1,4}[0-9]{2,5})?:"
        r"|\[(?P<framed>info|debug|trace|notice|warn(?:ing)?)\]"
        rf"|(?:{patterns_of('notes')})(?P<noted>[a-z])"
        r"|.{0,200}?\blevel=\"?(?P<field>info|debug|trace|notice|warn(?:ing)?)\b"
        r"|(?P<glog>[IW])[0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}"
    )
)
"""The level of a log record that is no error."""

WORDS_OF_LEVEL: Final = ("info", "debug", "trace", "notice", "verb", "warn", "http ", "sill ", ".go:", ".cc:", ".py:")
"""Strings of which each line with such a level has one."""

_SUBJECT: Final = (
    r"(?:the )?(?:build|compilation|compile|tests?|job|pipeline|deployment|deploy|install(?:ation)?|setup|configuration"
    r"|linking|task|step|command|run|operation|execution|migration|process|program|script|recipe|hook|test run)"
)
_STATUS: Final = (
    r"(?:exit(?:ed|s|ing)?|return(?:ed)?|finished|completed|terminated|failed|ended|died|quit|status)\b.{0,30}?"
    r"\b(?:exit[ -])?(?:code|status|rc)[ :=]{1,2}-?[0-9]{1,6}\b|\bnon-?zero\b.{0,20}\b(?:status|code|exit)"
)
EXITED: Final = _any_of(
    rf"(?!.{{0,200}}\b(?:expected|got|want)\b).{{0,200}}?\b(?:{_STATUS})(?!.{{0,200}}: \S)",
    r".{0,200}\b(?:failed|exited|died)\b.{0,60}\((?:exit|code|status|rc)[ :=]{0,2}(?:code|status)? ?-?[0-9]{1,6}\)$",
)
WORDS_OF_STATUS: Final = ("code", "status", "zero", "rc ", "rc:", "rc=", "(rc", "exit")
SEVERITY: Final = lazy_pattern(r"\A\W{0,3}(?:error|fatal): (?=\S)")
TRAILER: Final = _any_of(
    r"\W{0,3}(?:error|fatal|failed): ?(?:exiting|aborting|stopping) due to\b",
    rf"(?:\W|error: ){{0,3}}{_SUBJECT}(?: run| step| has| was| is)? (?:failed|failure|aborted|cancel(?:led|ed)"
    r"|terminated|stopped|unsuccessful)(?:[.! ]*$| (?:in|after) [0-9].{0,20}$"
    r"| with (?:[0-9]{1,6} |an? )?(?:errors?|exceptions?)\b[^:]{0,40}$)",
    r"(?:fatal )?(?:errors?|failures?|failed|fail|failing)[.! ]*$",
    r"(?:aborting|exiting|terminating|giving up|bailing out|aborted|stopping|quitting)\b"
    r"(?! (?:because|as|since)\b)[^:]{0,60}$",
    r"(?:an?|some|one or more|there (?:was|were)(?: an?)?) (?:fatal |unexpected )?errors?(?: (?:has|have))?"
    r"(?: (?:occurred|happened|found|encountered))?[.!]?$",
    r"[^:]{0,80}\b(?:errors?|problems?|issues?|failures?) (?:(?:was|were|has been|have been|has|have) )?"
    r"(?:encountered|found|detected|occurred|reported|emitted|raised|logged)[.!]?$",
    r"> task \S{1,200} failed$|g?make(?:\[[0-9]{1,4}\])?: \*\*\* .{0,300}error [0-9]|elifecycle|ninja: build stopped",
    r"could not compile .{1,200} due to|collect2: error: ld returned|\S{1,60} ?: error: linker command failed",
    r"\W{0,4}(?:found |total:? )?[0-9]{1,7} (?:errors?|failures?|problems?|issues?|warnings?|failed)\b[^:]{0,80}$",
)
WORDS_OF_TRAILERS: Final = (
    "code", "status", "fail", "abort", "cancel", "terminat", "stop", "exit", "giving up", "bailing", "quit", "error",
    "elifecycle", "unsuccessful", "due to", "problem", "issue", "warning",
)  # fmt: skip

BOILERPLATE: Final = _any_of(
    r"(?:for )?(?:more|further|full|additional) (?:information|details?|info|help|usage)\b",
    r"(?:please )?(?:see|check|read|consult|refer to|visit|look at|view) (?:(?:the|also|our|your) )?"
    r"(?:.{0,60}\blogs?\b|docs?\b|documentation|manual|https?://|man page|output|full)",
    r"(?:please )?(?:re-?run|run|try|use|type|pass)\b.{0,60}(?: --?(?:verbose|help|debug|stacktrace|info|v{1,3}|h|trace"
    r"|backtrace|x)\b|\bfor (?:more|help|usage|details|a (?:full )?(?:backtrace|list))|\bto (?:see|get|display|list) )",
    r"(?:note: )?run with `rust_backtrace",
    r"(?:the |a )?(?:full |complete |detailed )?(?:log|output|report|details)s? (?:of this run |file )?"
    r"(?:can be found|(?:is|are|was|were) (?:saved|written|available|stored))",
    r"if you (?:believe|think)\b|please (?:report|file|open|submit|contact|include)\b",
    r"this is (?:probably|likely|most likely) not a problem with|copyright\b|thank you\b|https?://\S+$",
    r"showing last frame\b",
    r"this command with --force|to accept an incorrect|to fix this,? you (?:could|can)\b"
    r"|[0-9]\. (?:loosen the range|remove package versions)|the conflict is caused by:|hook id: \S+$"
    r"|call log:?$|total time:? [0-9]|node_modules/[\w@./-]{1,200}$",
)
