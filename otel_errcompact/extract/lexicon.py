"""
Words that programs tell failures with, by what they say.

They choose lines, keys and hints, and say whether waiting helps. Whether something failed they never decide: that a
declaration does, or the closing statement of a tool. `tests/extract/lexicon.txt` has examples of each sense.
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.index import CLUES
from otel_errcompact.runtime.lazy import lazy, lazy_pattern
from otel_errcompact.runtime.strings import has_any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Sense(Enum):
    """What words say."""

    FAILED = "something went wrong"
    TRANSIENT = "waiting helps"
    NAMED = "waiting helps, in the name of a type"
    CUT = "the call ended in the middle, and its work may have begun"
    BEGUN = "an answer was waited for, so the work had begun"
    BEFORE = "a step before the work, or the work was taken back"
    YET = "what is asked for has not happened yet"
    RETRYING = "whether, when or how often to repeat a request"
    QUOTA = "nothing is left, and waiting does not bring it back"
    HOST = "there is no such server, or it is not the one it says it is"
    ABSENT = "what was named is not there, or is not written as it must be"
    REJECTED = "nothing was executed, at the beginning of a cause"
    REFUSED = "nothing was executed, in the name of a type"


_TABLE: Final = r"""
failed         errors?  fail(?:ed|s|ure|ures)?  cannot  can't  could ?n[o']t  unable  impossible  no such  missing
failed         required  unresolved  unsupported  undefined  undeclared  unknown  denied  refused  rejected  forbidden
failed         unauthorized  ignored  invalid  unexpected  conflict  mismatch  violat(?:ed|es|ion)  must be
failed         expect(?:ed|s)  tim(?:ed|e) ?out  exceed(?:ed|s)?  out of  too (?:many|long|large|big|small|few|short)
failed         exception  abort(?:ed)?  crash(?:ed)?  killed  panic  fatal  un(?:handled|caught)  fell through
failed         unreachable  reset by
failed         not (?:be |have |yet )?(?:\w{1,12} )?(?:found|exist|available|enough|permitted|allowed|supported)
failed         not (?:be |have |yet )?(?:\w{1,12} )?(?:recognized|valid|match|defined|installed|read|ignored)
failed         do(?:es)?(?: no|n')t  did not  is(?: no|n')t  was(?: no|n')t  are(?: no|n')t  were not  ha(?:s|ve) not
failed         must not  may not  fehler  fehlgeschlagen  nicht  abgebrochen  erreur
transient      timed[ -]out\b  i/o timeout\b  \A(?:killed|overloaded|timeout)\b
transient      timeout (?:exceeded|expired|reached|error|while|waiting|after|awaiting|occurred|of \d)
transient      time-out (?:exceeded|expired|reached|error|while|waiting|after|awaiting|occurred|of \d)
transient      timeout (?:of )?[0-9]{1,9} ?(?:ms|s|seconds)? (?:was )?exceeded
transient      (?:read|connect(?:ion)?|request|response|lock wait|lock|gateway|handshake|idle|statement|query|operation
               |command|execution|tool) time-?out\b(?! (?:must|should|is|argument|parameter|value|option|setting))
transient cut  deadline[ _]?(?:has )?(?:been )?exceeded\b  took too long\b
transient      connection (?:was |has been |is )?(?:forcibly )?(?:refused|closed by (?:the )?(?:remote|peer))
transient cut  connection ?(?:was |has been |is )?(?:forcibly )?(?:reset|aborted)  econn(?:reset|aborted)\b
transient cut  connection (?:is |was )?(?:already )?(?:closed|broken|terminated|lost)\b  closed the connection\b
transient cut  server ?disconnected\b  remote end closed connection\b  socket hang up\b  bad gateway\b  empty reply\b
transient cut  peer closed\b  premature(?:ly)? (?:close|end)  broken pipe\b  incomplete ?(?:read|chunked read)\b
transient cut  (?<![a-z])eof\Z  eof occurred\b  unexpected[ _]eof(?! while (?:parsing|scanning|looking))
cut            hung up  end of file reached  other side closed  remote end closed  remote ?disconnected
cut            remote protocol error
named          remote (?:disconnected|protocol error)  server unreachable  endpoint connection error
named cut      internal server error  sigkill  sigterm  oom killed
transient      oomkilled\b  signal: killed\b
cut            \w{0,40}(?<!e)timed?[ -]?out  killed\b  connection ?(?:was |has been |is )?(?:forcibly )?closed
transient      econnrefused\b  etimedout\b  esockettimedout\b  eai_again\b  eagain\b  ebusy\b
transient      (?:errno (?:11|16|26|104|110|111|103)|winerror (?:10053|10054|10060|10061))\]
transient      temporar(?:y|ily) (?:unavailable|overloaded|failure)  statuscode\.(?:unavailable|deadline_exceeded)
transient      resource (?:temporarily unavailable|busy|is locked)\b  text file busy\b
transient      (?:database|table|file|state|index)[^\n]{0,60} is locked\b  could not get lock\b  lock: file exists
transient      (?:acquire|acquiring|waiting for) (?:the )?(?:\w{1,20} )?lock\b  lock is held\b
transient      held by (?:process|pid)\b
transient      another (?:\w{1,20} )?process (?:is|seems to be) (?:running|holding)\b  deadlock (?:detected|found)\b
transient      could not serialize access\b  restarting transaction\b  too many (?:requests|connections|concurrent)\b
transient      rate exceeded\b  throttled\b  request rate\b  resource_exhausted\b
transient      rate[ -]?limit(?:s|ed)?(?: (?:is |was |has been )?(?:reached|exceeded|hit)|:|\Z|[.,])
transient      (?:service|server)(?: is)?(?: currently| temporarily)? unavailable\b  currently unable to handle\b
transient      overloaded\b  over capacity\b  is (?:too |currently )?busy\b  upstream connect error\b
transient      (?:try|retry) again (?:later|in (?:a|an|[0-9]))  (?:try|retry) (?:later|after [0-9]|in [0-9])
transient      not finished\b  not done\b  not yet (?:finished|done)\b  not (?:yet )?ready\b(?! to)
transient      (?<!did )not complete\Z
transient      ha(?:s|ve) not (?:yet )?(?:completed|finished|started|arrived|propagated|been (?:confirmed|reviewed))\b
transient      \A(?:still )?(?:waiting|pending)\b  awaiting (?:approval|review|confirmation|response)\b
transient      (?:(?<=is )|(?<=are )|(?<=still )|(?<=[,:])|(?<=[,:] ))(?:waiting|pending) (?:for|on|review|approval)\b
transient      (?:is|still|(?<!not )currently)(?: still| currently| now| in)? (?:pending|queued|scheduled|running
               |starting|initiali[sz]ing|processing|building|provisioning|loading|creating|validating|finali[sz]ing
               |uploading|deploying|indexing|booting|recovering|resuming|attempting)\b(?!:| (?:as|on|with|at|into)\b)
transient      \w{0,30}(?:state|status|phase)["']?[ :=]{1,20}["']?(?:in |[0-9] {1,2})?(?:\w{1,20}_)?(?:pending|queued
               |scheduled|waiting|submitted|in_?progress|(?!fail|miss|err|degrad|conflict|warn)\w{3,20}ing)\b(?!-)
transient      \A\w{1,30}_(?:pending|queued|scheduled)\Z  \A(?:pending|queued)_\w{1,30}\Z  not_?started\Z
transient      (?:\A|to start: )\w{1,30}(?:initiali[sz]|creat)ing\Z  still authori[sz]ing\b
transient      (?:is|are) (?:still |currently |now )?being (?:processed|generated|created|prepared|provisioned|updated
               |deleted|deployed|built|rebuilt|restored|uploaded|indexed|reviewed|verified|validated|migrated|transferred
               |scanned|initiali[sz]ed|started|stopped|exported|imported|modified|copied|resized)\b
transient      (?:warming|starting|booting|spinning|coming)[ _]up\b  please wait\b
transient      (?:check|come) back (?:later|in|soon)\b  wait (?:a few|some|several) (?:seconds|minutes|moments)\b
transient      \A(?:(?!error|fail|cannot|could|no\b|not\b|while\b|already)[\w.-]{1,24} ){0,3}(?:pending|queued|scheduled
               |running|starting|initiali[sz]ing|processing|provisioning|creating|validating|finali[sz]ing
               |busy)[.!]{0,3}\Z
transient      (?:build|deploy|deployment|rollout|restart|operation|job|task|backup|restore|provisioning|update|upgrade
               |installation|execution|run|query|sync|transfer|import|export|scan|snapshot|release|resize|request
               )(?: [^.;\n]{0,80})? in progress\b
transient      (?<!no rebase )(?<!transaction )(?<!rebase is )(?<!merge is )(?<!already )in progress[.!]{0,5}\Z
transient      \w{1,20}_in_progress\b  in_?progress\Z  \A202\b  \A(?:0 confirmations|eta)\b
named          time ?out(?: |\Z)  timed out(?: |\Z)  deadline exceeded(?: |\Z)  (?:etimedout|esockettimedout)(?: |\Z)
named          rate ?limit  throttl  too many requests  slow down  overloaded  over capacity  server busy  busy\Z
named          throughput exceeded  (?:(?:service|server|temporarily) |\A)unavailable(?: |\Z)  resource exhausted
named          connect(?:ion)? (?:refused|reset|aborted|closed|failed)  connect(?:ion)? error\Z  connect exception\Z
named          econn(?:refused|reset|aborted)  server disconnected  bad gateway  ewouldblock  blocking ?io  etxtbsy
named          eai again  eagain  ebusy  deadlock  serialization (?:failure|error)
named          lock(?:ed)? (?:exists|held|timeout|not available|wait)  acquire lock
begun          read(?:ing)? (?:tcp|from)\b  read: connection  recv failure  during query
begun          without (?:sending a )?response
before         connect(?:ion|ing)? ?(?:attempt )?time  (?:connect|connecting|dial|lookup|resolve|connection to)\b
before         (?:failed|unable|could not|cannot|can't) (?:to )?(?:establish|open|connect|obtain|get|acquire)  establish
before         \w{0,40}(?:refused|unreachable|queue|deadlock|serializ|throttl|overload|unavailable|exhausted
               |handshake|rate[ -]?limit)
before         kex_  (?:tls|ssl)\b  name resolution  eai[_ ]?again
before         lock(?:ed)?\b  blocking ?io\b  acquir(?:e|ing)\b  acquisition\b  check ?out  pool
before         roll(?:ed|ing) ?back  cancel+ing statement  too many
before         over capacity  busy\b  not (?:yet )?(?:ready|available)
before         in progress  pending  starting  booting  warming
before         for (?:an? )?(?:free |available )?(?:connection|slot|worker|channel)\b
yet            (?:(?:re)?try|retrying|trying)(?: again)? (?:in (?:a|an|some|several)\b|later\b|shortly\b)
yet            (?:not|cannot|can't|isn't|hasn't|haven't|aren't|no) (?!(?:implemented|supported|released|defined|allowed
               |available in)\b)[^.;\n]{0,60}?(?<!implemented )(?<!supported )\byet\b
               (?! (?:implemented|supported|stable|verified|available in))
retrying       retry  [\w-]{1,40}retry(?:[-_ ]?(?:after|able|delay|in|at)|info)
retrying       (?:please |do not |don't )(?:try|repeat)  try again (?:in|after|at|later)  idempoten  nothing was
retrying       not been (?:charged|applied|saved)  [\w-]{1,40}reset:
quota          insufficient[_ ](?:quota|credits?|funds|balance)  credit balance is too low  exceeded your current quota
quota          billing hard limit  spending limit  payment (?:required|method declined)  out of credits  lack of funds
quota          (?:top up|add funds|add credits)\b  trial has (?:expired|ended)
host           name or service not known  nodename nor servname  getaddrinfo (?:failed|enotfound)  no such host
host           \w{0,40}certificate
absent         (?:no such|not[ _]found|does ?n[o']t exist|did ?n[o']t match any|unknown|undefined|malformed)\b
absent         (?:unrecognized|not recognized|not a valid|invalid|syntax error|parse error|404)\b
absent         (?:did you mean|no matching|no match)\b
rejected       (?:unknown|unsupported|unrecognized|invalid) (?:tool|function)(?: name)?\b
rejected       no (?:such )?(?:tool|function) (?:available|named|found|with name|registered|called)\b
rejected       (?:tool|function) ['"`]?[\w.:/-]{1,100}['"`]? (?:is |was )?(?:not (?:found|registered|available|listed
               |a valid tool)|does not exist|unknown)
rejected       [\w.:/-]{1,100} is not a valid tool\b  received tool input did not match expected schema\b
rejected       (?:invalid|malformed|missing required|unexpected) (?:input|arguments?|parameters?|params)(?: \S{1,100})?
                (?:for|to|of|in) (?:the )?(?:tool|function)\b
rejected       input validation error:  tool arguments? (?:are|is) (?:invalid|missing)
rejected       failed to parse (?:tool call |function )?arguments  missing required (?:argument|parameter)s?\b
rejected       your proposed edit has introduced new syntax error  no exact match found\b
rejected       (?:old_string|old_str|oldstring|oldtext|search string|string to replace) (?:was )?not found\b
rejected       file has not been read yet\b  no rule to make target '[^']{1,200}'(?!, needed)  missing script:
rejected       don't know how to build task\b  no task [\w:'"`-]{1,100} found\b
rejected       (?:task|recipe|target|script|command|rule|session) ['"`][^'"`]{1,100}['"`] (?:is )?(?:not (?:found
               |recognized|defined)|does not exist|unknown)\b
refused        (?:no such|unknown|unavailable|unregistered) (?:tool|function)  tool not (?:found|registered)
refused        invalid (?:tool|function) (?:input|arguments?|call|params?|parameters?|schema)
refused        tool (?:input parsing|input validation|arguments?)
"""
"""
A row: senses, and forms in small letters, which begin where a word does; two spaces part them.

A line with a margin continues the form above it.
"""

_MARGIN: Final = "\n" + " " * 15
_QUANTIFIERS: Final = frozenset("?*+{")

FAULTS_OF_CODE: Final = frozenset(
    {
        "assertion", "argument", "arithmetic", "attribute", "cast", "conversion", "format", "import", "indentation",
        "index", "json", "key", "lookup", "module", "name", "parse", "pointer", "reference", "schema", "syntax", "type",
        "unicode", "validation", "value", "option", "unsupported",
    }
)  # fmt: skip
"""Words of types that say that the code or its input is wrong, whatever the message mentions."""


class Words:
    """
    What is said in one sense, in small letters.

    Args:
        sense: The sense.
        at: Where they begin, as a pattern.
    """

    def __init__(self, sense: Sense, *, at: str = "") -> None:
        self._sense = sense
        self._pattern = lazy_pattern(lambda: at + join_words(forms_of(sense)))

    @lazy
    def _clues_of_sense(self) -> tuple[str, ...]:
        return clues_of(self._sense.name)

    def find(self, lowered: str) -> str:
        """Return the first words of this sense."""
        # A text without a string of theirs costs no pattern.
        found = self._pattern.search(lowered) if has_any(lowered, self._clues_of_sense) else None
        return found[0].strip() if found is not None else ""


def forms_of(sense: Sense) -> tuple[str, ...]:
    """Return the forms of one sense."""
    return tuple([form for senses, forms in _read_rows() if sense.name.lower() in senses for form in forms])


def clues_of(name: str) -> tuple[str, ...]:
    """Return strings of which each match of a form holds one."""
    # Of what is not in the index yet, no text is ruled out.
    return CLUES.get(name, ("",))


@cache
def _read_rows() -> Sequence[tuple[Sequence[str], Sequence[str]]]:
    rows = (row.partition("  ") for row in _TABLE.replace(_MARGIN, "").strip().split("\n"))
    return [(senses.split(), forms.strip().split("  ")) for senses, _, forms in rows]


def join_words(forms: Iterable[str], end: str = "") -> str:
    """
    Return one pattern for forms that begin where a word does.

    Those with one first letter are tried at once.
    """
    rests: dict[str, list[str]] = {}
    for form in forms:
        first = form[0] if form[0].isalpha() and form[1:2] not in _QUANTIFIERS else ""
        rests.setdefault(first, []).append(form[len(first) :])
    alternatives = "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in rests.items())
    return rf"\b(?:{alternatives}){end}"
