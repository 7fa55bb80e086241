"""Whole answers of functions that are one error value, and nothing else."""

from __future__ import annotations

import ast
import errno
import json
from typing import Any, Final, cast

from otel_errcompact.runtime.lazy import lazy_pattern

MAX_ANSWER: Final = 65_536
"""Characters of an answer that is looked into."""

_MAX_PAGE: Final = 16_384
_MAX_LITERAL: Final = 4_096
_MAX_MESSAGE: Final = 2_000
_HEAD: Final = 1_000
_MAX_LINES: Final = 6
_MAX_DEPTH: Final = 3
_MIN_LETTERS: Final = 3
_MIN_CODE: Final = 40_000

_CODES: Final = "|".join(sorted({*errno.errorcode.values(), "ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET"}))
_PHRASES: Final = (
    "Bad Request|Unauthorized|Payment Required|Forbidden|Not Found|Method Not Allowed|Not Acceptable"
    "|Proxy Authentication Required|Request Timeout|Conflict|Gone|Length Required|Precondition Failed"
    "|Request Entity Too Large|Request-URI Too Long|Unsupported Media Type"
    "|Requested Range Not Satisfiable|Expectation Failed|I'm a Teapot|Misdirected Request"
    "|Unprocessable Entity|Locked|Failed Dependency|Too Early|Upgrade Required|Precondition Required"
    "|Too Many Requests|Request Header Fields Too Large|Unavailable For Legal Reasons"
    "|Internal Server Error|Not Implemented|Bad Gateway|Service Unavailable|Gateway Timeout"
    "|HTTP Version Not Supported|Variant Also Negotiates|Insufficient Storage|Loop Detected|Not Extended"
    "|Network Authentication Required"
)
"""Of the statuses of HTTP from 400 on; the module that has them loads much else."""
_TYPE: Final = (
    r"(?:(?:[A-Za-z_$][\w$]{0,60}(?:\.|::)){0,8}(?:[A-Z]\w{0,80})?(?:(?<=\w)Error|Exception|(?<=[a-z.])Timeout)"
    r"|(?:[a-z_]\w{0,60}\.){0,6}(?:errors?|exceptions?|exc|errorfactory)\.(?:\w{1,60}\.){0,3}[A-Z]\w{1,80}"
    r"|(?:subprocess\.)?TimeoutExpired|StopIteration)"
)

_LABEL: Final = lazy_pattern(
    rf"(?:(?:[\u274c\u2717\u2716\U0001f6d1]\ufe0f? ?)?(?:\[(?:Error|ERROR)\]:?|(?:Error|ERROR|error):)|(?:An "
    rf"|a )?(?:[Uu]nexpected |[Ii]nternal )?[Ee]rror (?:has )?occurred(?: (?:while|when|during"
    rf"|trying)\b[^:.\n]{{0,99}})?:|(?:Unexpected|Internal|(?:(?:Input|Output|Schema|Argument) )?[Vv]alidation"
    rf"|Connection|Network|Database|API|HTTP|Server|Authentication|Authorization|Permission|Configuration|Runtime"
    rf"|Execution|Request|SQL|Query|Service|Tool|Catalog|Binder|Parser|Conversion|Constraint|IO|Syntax) [Ee]rror:"
    rf"|Error (?:while )?(?:accessing|binding|connecting|creating|deleting|downloading|fetching|generating|getting"
    rf"|listing|loading|opening|parsing|processing|querying|reading|retrieving|saving|searching|sending|updating"
    rf"|uploading|writing)\b(?:[^:.\n]|[:.](?=\S)){{1,200}}:|(?:Tool|Function) (?:execution|call"
    rf"|['\"`]?[\w.-]{{1,80}}['\"`]?) (?:failed|raised):|(?:Uncaught "
    rf"|Unhandled )?(?P<type>{_TYPE})(?: ?\[[A-Z_]{{2,60}}\]| \([A-Z_0-9]{{2,60}}\))?:(?!\n))\s+(?=\S)"
)
"""How an answer begins that calls itself an error, or names the type of one."""

_FAILURE: Final = (
    r"(?:(?:Invalid|Undefined|Unsupported|TooMany|NoSuch|NoResult|MultipleResults|Unauth|Ambiguous|Insufficient"
    r"|Bad(?=Request|Status|Gateway|Signature|Zip|Host|Method)|(?:Missing|Duplicate)(?=Schema|Table|Column|Object"
    r"|Database|Function|Key|Param|Arg|Field|Value))\w{1,80}|(?=[A-Z])\w{0,80}(?:NotFound|NotExist|AlreadyExists"
    r"|Denied|Exceeded|Exhausted|Violation|Failure|Failed|Unavailable|(?:Canceled|Cancelled)|Refused|Rejected|Truncation|Overflow"
    r"|OutOfRange|Forbidden|ByZero|Aborted|TimedOut|Disconnected|SqlTransaction|DeadlockDetected))\("
)
"""Names of exceptions that do without `Error`."""

_REPRESENTED: Final = lazy_pattern(
    rf"(?:{_TYPE}\((?:|(?:['\"0-9\[{{(<-]|None,|(?:message|detail|status_code)="
    rf"|[A-Za-z]\w{{1,80}}\()[^\n]{{0,4000}})\)|(?:[a-z_]\w{{0,60}}\.){{0,6}}(?:{_FAILURE}"
    rf"|[A-Za-z]\w{{0,40}}[Ee]rror\(-?[0-9]{{1,5}}, |Error\()['\"]\S+ [^\n]{{1,4000}}['\"]\)"
    rf"|{_FAILURE}[A-Z]\w{{1,80}}\([^\n]{{1,4000}}\)\)|(?:network|tls|auth|server):{_TYPE}|<{_TYPE}(?:: ['\"]"
    rf"| [0-9]+(?::| when) )[^\n]{{0,800}}>)\Z"
)
"""What `repr` makes of an exception: on one line, the name of its type and what it was raised with."""

_FOR: Final = lazy_pattern(
    r"(?:(?:[Ff]ailed|Unable|Could not|Couldn't|Cannot|Can't) (?:to )?[a-z][^:\n]{1,200}|(?:Query|Search|Request"
    r"|Operation|Call|Command|Connection|Lookup|(?:[A-Z][a-z]{1,20} )?[Ee]xecution) failed|(?!\w*(?:Status|Code|Result"
    r"|Last|Reason|Message|Output|Response))_?[A-Z]\w{0,40}[a-z][A-Z]\w{1,40}|gaierror|connection failed|FATAL): (?=\S)"
)
"""How an answer begins that is an error where what it names as its reason is one."""

_SAYS_NO_ERROR: Final = lazy_pattern(
    r"(?i)(?:(?:none|no|nil|null|n/?a|ok|true|false|low|high|no errors?\b.*|not applicable|enabled|disabled|-+)\W*\Z"
    r"|[0-9]{4}-[0-9]{2}-|[0-9]{1,2}:[0-9]{2}\b|0 [a-z]|[0-9.,]+ ?%"
    r"|(?![45][0-9]{2} [a-z])[-+~<>\u00b1\u2248]?\s?[0-9][0-9.,e%-]*\S*(?: \S+)?\Z|[0-9,]+ (?:errors?|issues?|found"
    r"|times?|occurrences?|warnings?|failures?|rows?|results?|matches|cases|items|events)\b|(?:if|when|unless|raised"
    r"|returned|thrown|occurs|happens|indicates|means|describes|how to|what|why|(?:the )?base class|an? (?:guide"
    r"|built-in|subclass|exception|common|type)|an error (?:that|which|raised|thrown))\b|.* \| [A-Z]\w+\Z|.*(?: [-"
    r"|\u2013\u2014\u00b7] (?:stack overflow|server fault|super user|github|reddit|quora|medium|wikipedia)"
    r"|\bhow to fix\b|\b(?:us(?:ing|ed)|showing|return(?:ing|ed)|serving) (?:the |an? )?(?:last |cached|stale|fallback"
    r"|partial)|\bf[ae]ll(?:ing|en)? back\b))"
)
"""What follows the label of a measure, a log entry, a title, an entry of a glossary, or an answer after all."""

_BELONGS: Final = lazy_pattern(
    r"\s+(?:at |File \"|in |from |\.\.\. |(?:code|errno|syscall|path): )|\s*[\^~]+|\[(?:SQL|parameters|cached"
    r"|generated)\b|\(Background on|LINE [0-9]+: |(?:Caused by|Require stack|Call log|During task)\b|- /|  - "
    r"|\s{4,}(?!\w+(?:Error|Exception):)\S|\s*[)}\]]\Z"
)
"""A line that goes on with an error: of a stack, a statement in SQL, a log of calls."""

_FIELD: Final = lazy_pattern(r"\s*(?:[-*] )?([A-Za-z][\w-]{0,30}(?: [\w-]{1,30}){0,2}):(?:\s|\Z)")
_FIELDS: Final = frozenset({
    "expected", "received", "got", "given", "hint", "detail", "details", "reason", "cause", "code", "status code",
    "where", "error code", "suggestion", "help", "usage", "context", "type", "available", "available options",
    "valid values", "tip", "allowed values", "see", "note", "stdout", "stderr", "exit code", "command", "output",
    "message", "request id", "query", "for more information check", "redirect location", "url", "http status",
    "example", "did you mean", "statement",
})  # fmt: skip
_ANOTHER: Final = lazy_pattern(
    r"(?i)\s*(?:[{\[<|#>]|[0-9]+[.)] |[*+\u2022] |https?://\S+\Z|\[?[0-9]{4}-[0-9]{2}-|[0-9]{1,2}:[0-9]{2}\b|.*(?: \| "
    r"|\S\t)|\[?(?:info|warn|warning|debug|error|trace|fatal)(?:\]|:|\s)|\w{1,60}(?:Error|Exception):|---|===|```)"
)
"""A line of a list, a table, a log or a document, which is no sentence of one error."""

_OPENED: Final = lazy_pattern(
    r"(?:<(?:_?[A-Za-z]{0,30}RpcError|_MultiThreadedRendezvous) of RPC that terminated with:\n"
    r"|[0-9]{1,5} validation errors? for \S[^\n]{0,200}\n(?:[^\n]+\n)?  \S[^\n]*[\[(]type="
    r"|-{40,}\n\w{1,80} +Traceback \("
    r"|(?:while (?:parsing|scanning|constructing) [^\n]{1,200}\n|mapping values are not allowed here\n"
    r"|could not find expected[^\n]{1,99}\n)(?:[^\n]{1,99}\n)?"
    r"  in \"[^\"\n]{1,200}\", line [0-9]{1,6}, column [0-9]{1,6}\b"
    r"|[^\n]{1,1000}\n\nFailed validating '\w+' in (?:meta)?schema"
    r"|\((?:[a-z_]\w{0,40}\.){1,4}\w{1,60}\) \S[^\n]{0,2000}(?:\n[^\n]*){0,12}?(?:\n\[SQL: "
    r"|\n?\(Background on this error)|(?:[\w.]{1,60}: )?Timeout [0-9]{1,8}ms exceeded\.?(?:\n=+ logs =+|\nCall log:"
    r"|\s*\Z)|Command failed: [^\s0-9]|Error (?:calling|executing|running"
    r"|invoking) (?:(?:tool|function)\b[^\n]{0,400}(?:: \S|\Z)|['\"`]?\w+['\"`]?(?:\(\))?: \S)"
    r"|Parameter validation failed:\n\S|\([45][0-9]{2}\)\nReason: \S"
    r"|MCP error -[0-9]{3,6}: \S|Error code: [45][0-9]{2}(?: - \S|\Z)|[45][0-9]{2} \{\"(?:message|detail"
    r"|errors?)\": [^\n]+\}\Z"
    r"|[^\n{}|]{1,300}\n(?:[^\n]*\n)?LINE [0-9]{1,5}: [^\n]*\n\s*\^|[^\n{}|]{1,300}\nDETAIL:  \S)"
)
"""How errors begin that only one program writes so, whatever follows."""

_SAID: Final = lazy_pattern(
    rf"(?m:\[(?:Errno (?:None|-?[0-9]{{1,5}})|WinError [0-9]{{1,5}}|SSL: [A-Z0-9_]{{3,60}})\] (?!is |means )\S"
    rf"|\[SSL\] [^\n]{{1,200}}\(_ssl\.c|(?:{_CODES}): (?!an? |the )[a-z]|(?:connect|bind|listen|spawn|getaddrinfo"
    rf"|query[A-Z]\w{{0,5}}) (?:\S{{1,100}} )?(?:{_CODES})(?:: |(?: \S{{1,200}})?(?:$| - ))|(?:read|write|accept|send"
    rf"|recv) (?:{_CODES})\Z|(?:Client|Server|Redirect) (?:error|response) '[345][0-9]{{2}}\b[^'\n]*' for"
    rf"|[45][0-9]{{2}} (?:Client|Server) Error: [^\n]{{0,300}} for url: |(?:0|[1-5][0-9]{{2}}), message=['\"]"
    rf"|HTTP Error [45][0-9]{{2}}: \S|[45][0-9]{{2}} (?:GET|POST|PUT|PATCH|DELETE|HEAD) https?://\S+: \S"
    rf"|Request failed with status(?: code)? [45][0-9]{{2}}\b"
    rf"|(?:HTTP(?:/[0-9.]{{1,3}})?(?: [Ee]rror)?:? ?)?[45][0-9]{{2}}:? (?i:{_PHRASES})(?:[:;,] ?[^\s0-9]|\W*\Z)"
    rf"|HTTP [45][0-9]{{2}}: [A-Z]|409 Already Exists: |429 (?:Quota exceeded|Resource (?:has been )?exhausted)\b"
    rf"|503 failed to connect to all addresses|504 Deadline Exceeded|403 Permission denied: "
    rf"|404 [A-Z]\w{{0,40}} \S{{1,200}} (?:was not found|does not exist)\b|403 (?:Permission"
    rf"|Access)\b[^\n]{{1,300}}\b[Dd]enied\b|403 Access Denied: |401 [A-Z][^\n]{{1,99}} invalid [a-z ]+ credentials"
    rf"|50[03] (?:The service is currently unavailable|An internal error occurred)|400 (?:Invalid|Unknown|Unrecognized"
    rf"|Syntax error)\b[^:\n]{{0,99}}: \S|HTTPS?Connection(?:Pool)?\(host=|<urlopen error [^\n]+>\Z"
    rf"|\('Connection (?:aborted|broken)\b[^\n]+\)\Z|Cannot connect to host \S+ ssl:"
    rf"|\S{{1,100}}:[0-9]{{1,5}}: [^\n]{{1,200}} \(configured timeouts: |Connection timeout to host \S+\Z"
    rf"|server rejected WebSocket connection: HTTP [0-9]{{3}}\Z|connection to server (?:at|on) [^\n]{{1,200}} failed: "
    rf"|Error -?[0-9]{{1,5}} (?:connecting|while (?:reading|writing)) (?:to|from) \S"
    rf"|Could not connect to the endpoint URL: \""
    rf"|An error occurred \([\w.]{{1,80}}\) when calling the \w{{1,80}} operation\b"
    rf"|(?:page\.\w+: )?net::ERR_[A-Z_]{{3,60}}|(?:Navigation )?[Tt]imeout of [0-9.]{{1,9}} ?m?s exceeded"
    rf"|Command '[^\n]{{1,600}}' (?:returned non-zero exit status [0-9]|timed out after [0-9]|died with )"
    rf"|\([1-4][0-9]{{3}}, \"[^\"\n]*(?:'[\w.@%-]{{1,80}}'|SQL)[^\"\n]*\"\)\Z|\(2[0-9]{{3}}, '[^'\n]*MySQL[^'\n]*'\)\Z"
    rf"|(?:ERROR )?[1-4][0-9]{{3}} \([0-9A-Z]{{5}}\): \S|E11000 duplicate key error\b|WRONGTYPE Operation against"
    rf"|NOAUTH Auth|NOPERM |ERR (?:unknown|wrong|value|syntax|invalid|no such|index)\b|READONLY You can't"
    rf"|OOM command not|MISCONF Redis|LOADING Redis|BUSY Redis|NOSCRIPT No|EXECABORT |Redis is loading the"
    rf"|Cannot find module '|The \"\w+\" (?:argument|property) must be |Unknown tool: ['\"]?[\w.:/-]{{1,80}}['\"]?\Z"
    rf"|(?:Tool|Function) ['\"`]?[\w.:/-]{{1,80}}['\"`]? (?:not found|does not exist|is not available)\.?\Z)"
)
"""How what clients give as the text of an exception begins; more lines have to belong to it."""

_EXACT: Final = lazy_pattern(
    r"(?:(?:[Tt]he (?:read|write|handshake|connect) operation )?timed out|All connection attempts failed"
    r"|Connection error|Request timed out(?: or interrupted\. .*)?|No host specified|unknown url type: '.*'"
    r"|fetch failed|socket hang up|other side closed|Server disconnected(?: without sending a response)?"
    r"|Remote end closed connection without response|peer closed connection without sending .*|IncompleteRead\(.*\)"
    r"|illegal status line: .*|Response payload is not completed.*|Timeout (?:on reading data|reading) from socket"
    r"|Exceeded (?:[0-9]+|maximum allowed) redirects|Request URL (?:is missing an|has an unsupported) .*protocol.*"
    r"|No connection adapters were found for '.*|Invalid URL(?: '.*': .*)?"
    r"|The operation was aborted(?: due to timeout)?|Unable to locate credentials|You must specify a region"
    r"|(?:Missing credentials\. Please pass|Your default credentials were) .*|Could not parse SQLAlchemy URL from .*"
    r"|.{1,80}: line [0-9]+ column [0-9]+ \(char [0-9]+\)|Unexpected end of JSON input|Unexpected token .*JSON.*"
    r"|Expected .* in JSON at position [0-9]+.*|(?:mismatched tag|unclosed \w+|no element found|not well-formed \(.*\)"
    r"|syntax error|junk after document element|undefined entity.*): line [0-9]+, column [0-9]+|no such (?:table"
    r"|column|function|index|module): [\w.]+|near \".*\": syntax error|unrecognized token: \".*|(?:UNIQUE|NOT NULL"
    r"|CHECK|FOREIGN KEY) constraint failed(?:: .+)?|(?:table|index|view) \S+ already exists"
    r"|table \S+ has (?:no column named \S+|[0-9]+ columns but .*)|(?:ambiguous|duplicate) column name: [\w.]+"
    r"|incomplete input|datatype mismatch|database (?:table )?is locked(?:: \w+)?|attempt to write a readonly database"
    r"|unable to open database(?: file|: .+)|file is not a database|database disk image is malformed"
    r"|Cannot operate on a closed \w+|aggregate functions are not allowed in .*"
    r"|You can only execute one statement at a time|Incorrect number of bindings supplied\..*"
    r"|misuse of aggregate: .{1,80}|sub-select returns [0-9]+ columns - expected [0-9]+"
    r"|SELECTs to the left and right of .* do not have the same number of result columns"
    r"|function [\w.]+\(.*\) does not exist(?=\nHINT:  )|operator does not exist: .*"
    r"|current transaction is aborted, .*|(?:small|big)?int(?:eger)? out of range|malformed \w+ literal: .*"
    r"|the query has [0-9]+ placeholders but .*|connection already closed|invalid input syntax for .*"
    r"|canceling statement due to .*|value too long for type .*|column \".*\" must appear in the GROUP BY clause .*"
    r"|(?:new row for|null value in|(?:duplicate|conflicting) key value|(?:insert or update"
    r"|update or delete) on)\b.* violates [\w -]+ constraint\b.*|permission denied for \w+ \S+"
    r"|cannot execute [A-Z ]+ in a read-only transaction|invalid dsn: .*"
    r"|[a-z/]{1,20} (?:field )?value out of range: \".*\"|syntax error at or near \".*\"|syntax error at end of input"
    r"|subquery must return only one column|more than one row returned by a subquery used as an expression"
    r"|invalid regular expression: .*|(?:relation|schema|type|role|database) \".*\" already exists"
    r"|Can't load plugin: [\w.:]+|Not an executable object: .*|No matching script\. Please use EVAL"
    r"|Unknown service: '.*'\. Valid service names are: .*|The config profile \(.*\) could not be found"
    r"|expected string or bytes-like object.*|Invalid URI scheme: .*|\S+ isn't a valid URI: .*"
    r"|Invalid kube-config file\. .*|cannot import name '.*' from .*|Invalid input of type: '\w+'\. .*"
    r"|Expected an expression, got '.*'|'\w+' is undefined|(?:too many|not enough) values to unpack \(expected .*"
    r"|maximum recursion depth exceeded.*|(?:missing \), unterminated subpattern|unterminated character set"
    r"|nothing to repeat|multiple repeat|unbalanced parenthesis|bad escape \S+) at position [0-9]+.*|(?:Invalid"
    r"|Expected|Unclosed|Unterminated|Cannot|Duplicate|Illegal|Found) .{1,120} \(at (?:line [0-9]+, column [0-9]+"
    r"|end of document)\)|'.*' does not appear to be an IPv[46] .*|No closing quotation|math (?:domain|range) error"
    r"|substring not found|list\.remove\(x\): x not in list|[\w.]{1,40}\(\): \w+ is empty"
    r"|day is out of range for month|chr\(\) arg not in .*|Illegal header value .*|No API key (?:was )?provided\. .*"
    r"|The api_key client option must be set .*|Incorrect padding|Invalid base64-encoded string: .*"
    r"|'.*' and '.*' are the same file|Could not resolve authentication method\. .*|wrong number of arguments (?:to"
    r"|for) .{1,80}|(?:relation|column|schema|table|view|index|function|type|role"
    r"|database) \"[^\"]{1,120}\" does not exist|invalid username-password pair.*"
    r"|User \S+ has no permissions to (?:run|access) .*|You can't write against a read only replica"
    r"|unknown command '.*|command not allowed when used memory > .*|Transaction discarded because of previous errors"
    r"|Keys in request don't hash .*|value is not an integer or out of range|(?:No row was"
    r"|Multiple rows were) found when .* required|month must be in 1\.\.12|'\w+' object (?:has no attribute '\w+'"
    r"|is not (?:subscriptable|iterable|callable))|name '\w+' is not defined|(?:list|tuple|string"
    r"|pop) index out of range|(?:integer |float )?(?:division|modulo|division or modulo) by zero"
    r"|invalid input for query argument \$[0-9]+: .*|unhashable type: '\w+'|File is not a zip file|[0-9]+\w\w (?:GROUP"
    r"|ORDER) BY term out of range.*|No module named '[\w.]+'|invalid literal for int\(\) with base .*"
    r"|could not convert string to float: .*|int\(\) argument must be .*|time data '.*' does not match format '.*"
    r"|Invalid isoformat string: '.*|'[\w-]+' codec can't (?:de|en)code .*|Object of type \w+ is not JSON serializable"
    r"|unsupported operand type\(s\) for .*|can only concatenate \w+ \(not \"\w+\"\) to \w+"
    r"|\w+ indices must be .*, not \w+|[\w.<>]{1,80}\(\) (?:missing [0-9]+ required|got an unexpected keyword"
    r"|takes .* positional) .*|(?:max|min)\(\) (?:iterable )?arg(?:ument)? is .*|invalid syntax \(.*, line [0-9]+\)"
    r"|badly formed hexadecimal UUID string|unhandled errors in a TaskGroup \([0-9]+ sub-exceptions?\)|Cannot (?:read"
    r"|set) (?:property|properties) (?:'\w+' )?of (?:undefined|null).*"
    r"|[\w$]{1,40}(?:\.[\w$]{1,40}){1,5} is not (?:a function|iterable|a constructor)|An? (?:unexpected "
    r"|internal )?error (?:has )?occurred|Internal [Ss]erver [Ee]rror)\.?(?:\n(?:DETAIL|HINT|CONTEXT):  [^\n]+)*\Z"
)
"""Whole texts of exceptions, in the words of the client or interpreter that raises them."""

_FRAMED: Final = lazy_pattern(r"(?:\+ Exception Group )?Traceback \(most recent call last\):\n")
_CHAINED: Final = ("During handling of the above", "The above exception was", "Traceback (most recent")
_TAG: Final = lazy_pattern(r"<(error|tool_use_error|ERROR|Error)>([^<]{1,2000})(?:</\1>)?\Z")
_TITLE: Final = lazy_pattern(r"(?i)<(title|h1)\b[^>]{0,99}>([^<]{0,200})</\1>")
_OF_PAGE: Final = lazy_pattern(
    rf"(?i)\s*(?:[\w.-]{{1,80}} \| )?(?:Error |HTTP (?:Status |Error )?)?[45][0-9]{{2}}(?:\W{{1,5}}(?:{_PHRASES}|Error"
    rf"|Internal Error|Gateway Time-?out|File or directory not found|Service Temporarily Unavailable"
    rf"|Access Denied)\W{{0,5}}[0-9]?)?\s*\Z"
)
_OPENS_PAGE: Final = lazy_pattern(
    r"(?i)<(?:!doctype|!--|html|head|title|body|h1|center|\?xml|error|(?:\w{1,20}:)?envelope)"
)
"""How a whole page begins; what wraps one of others is a report on it."""

_XML: Final = lazy_pattern(
    r"(?:<\?xml[^>]{0,99}>\s{0,9})?<(?:Error|ErrorResponse"
    r"|(?:\w{1,20}:)?Envelope)\b[^>]{0,300}>(?:\s{0,9}<(?:\w{1,20}:)?Body>)?\s{0,9}<(?:Error|Code|Type"
    r"|(?:\w{1,20}:)?Fault)>"
)

_FLAG: Final = lazy_pattern(
    r"\"(?:is_?[Ee]rror\"\s*:\s*[tT]rue|(?:success|ok|succeeded)\"\s*:\s*(?:false|False)|type\"\s*:\s*\"(?:text"
    r"|error)\"|(?:[eE]rror\w{0,20}|errmsg|[fF]ault|exception|detail|documentation_url|__type)\"\s*:\s*[\"\[{tT]"
    r"|(?:status(?:_?[cC]ode)?|code|result|outcome|http_?[sS]tatus|exit_?(?:[cC]ode|status)|return_?[cC]ode"
    r"|errcode)\"\s*:\s*(?:-?[1-9]|\"(?:[45][0-9]{2}\"|[fF]ail|err|[A-Z][\w.]*[\"_])))"
)
_OPENS_WITH_FLAG: Final = lazy_pattern(r"\{\s*\"(?:message|Message|code)\"")
"""How an answer in JSON shows, near one of its ends or at its beginning, that it may report an error."""

_REASONS: Final = (
    "message", "error", "errors", "reason", "detail", "details", "msg", "error_message", "errorMessage",
    "error_description", "stderr", "Message", "errmsg",
    "faultstring",
)  # fmt: skip
_DONE: Final = ("success", "ok", "succeeded")
_VERDICTS: Final = ("status", "result", "outcome")
_FAILED: Final = ("error", "fail", "failed", "failure")
_STATUSES: Final = ("status", "statusCode", "status_code", "code", "cod", "httpStatus", "http_status")
_EXITS: Final = ("exit_code", "exitCode", "returncode", "return_code", "returnCode", "exit_status")
_OF_RUNS: Final = frozenset((*_EXITS, *_DONE)) | {
    "stdout", "stderr", "output", "command", "cmd", "duration", "duration_ms", "timed_out", "timeout", "error",
    "message", "signal", "cwd", "status", "killed",
}  # fmt: skip
_ERRORS: Final = ("error", "Error", "fault", "Fault", "exception", "errorMessage", "error_message", "error_msg")
_OF_ERRORS: Final = frozenset((*_REASONS, *_STATUSES, *_ERRORS, *_DONE, *_VERDICTS)) | {
    "type", "title", "errorCode", "error_code", "errorType", "error_type", "errcode", "errno", "syscall", "address",
    "port", "path", "dest", "instance", "isError", "is_error", "data", "extensions", "jsonrpc", "request_id",
    "requestId", "RequestId", "requestID", "timestamp", "traceId", "trace_id", "trace", "stackTrace", "stack",
    "documentation_url", "hint", "help", "retryable", "retry_after", "kind", "apiVersion", "metadata", "hostname",
    "spawnargs", "param", "field", "fields", "violations", "object", "errorMessages", "invalid_params",
    "correlationId", "correlation_id", "Code", "HostId", "__type", "error_uri", "cause", "more_info", "category",
}  # fmt: skip
"""Fields of answers that report an error and nothing else."""

_HINT: Final = lazy_pattern(
    r"(?:available|valid|supported|allowed|accepted|expected|received|given|requested|required|missing|suggest|did_you"
    r"|usage|example|query|input|tool|arguments?\b|param)\w*\Z|\w+(?:_id|Id)\Z"
)
"""A field that says of what the error speaks, or what to try."""

_OF_ENTRY: Final = frozenset({
    "message", "msg", "detail", "title", "code", "status", "type", "locations", "path", "extensions", "source",
    "reason", "domain", "field", "param", "location", "locationType", "loc", "links", "meta", "error", "errorCode",
    "ctx", "input", "url", "help",
})  # fmt: skip
"""Fields of one of several errors: none says where in a file, how often or when, as entries of a report do."""

_CODE: Final = lazy_pattern(
    rf"(?:(?:{_CODES})|(?:ERR|E)_\w+|(?i:\w*(?:error|exception|invalid|not_?found|denied|forbidden|unauthori[sz]ed"
    rf"|exceeded|conflict|unavailable|unsupported|missing|duplicate|already_?exists)\w*))\Z"
)
_OF_SERVER: Final = lazy_pattern(
    r"(?i)(?:internal server error|bad gateway|service unavailable|gateway time-?out|forbidden|unauthori[sz]ed"
    r"|bad request|too many requests|method not allowed|.{0,100}\b(?:not found|does not exist|already (?:exists"
    r"|registered))|not authenticated|could not validate credentials|no such \w+: .{1,200}|.{0,200}\b(?:limit exceeded"
    r"|not authori[sz]ed|access denied|forbidden|missing authentication token|invalid (?:token|api key|signature"
    r"|credentials)|credentials were not provided|endpoint request timed out|permission to perform this action))\W?\Z"
)


def read_error_value(text: str) -> str:
    """Return what kind of error value an answer is, or nothing."""
    if len(text) > MAX_ANSWER:
        return ""
    return _read_answer((text.replace("\r\n", "\n") if "\r" in text[:_HEAD] else text).strip(), 0)


def _read_answer(text: str, depth: int) -> str:
    ends = text[:1] + text[-1:]
    answer = _parse_answer(text) if ends in ("{}", "[]", '""') else None
    if answer is not None:
        inner = answer if isinstance(answer, str) else _unwrap_text(answer)
        if inner:
            return _read_answer(inner.strip(), depth + 1) if depth < _MAX_DEPTH else ""
        is_error = isinstance(answer, dict) and _is_error_object(cast("dict[str, Any]", answer))
        return "an error object" if is_error else ""
    return (_read_markup(text) if ends[:1] == "<" else "") or _read_text(text)


def _parse_answer(text: str) -> object:
    is_literal = text.startswith(("{'", "[{'"))
    if is_literal and len(text) > _MAX_LITERAL:
        return None
    shown = text.replace("'", '"') if is_literal else text
    ends = shown if len(shown) <= 3 * _HEAD else f"{shown[: 2 * _HEAD]}\n{shown[-_HEAD:]}"
    if text[0] != '"' and not _OPENS_WITH_FLAG.match(shown) and not _FLAG.search(ends):
        return None
    try:
        return ast.literal_eval(text) if is_literal else json.loads(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def _unwrap_text(answer: object) -> str:
    # Return the only text of an answer in the parts that protocols send: `[{"type": "text", "text": "Error: no"}]`.
    if isinstance(answer, dict):
        fields = cast("dict[str, object]", answer)
        is_wrapper = not fields.get("isError") and fields.keys() <= {"content", "isError"}
        answer = fields.get("content") if is_wrapper else None
    parts = cast("list[object]", answer) if isinstance(answer, list) else []
    part = cast("dict[str, object]", parts[0]) if len(parts) == 1 and isinstance(parts[0], dict) else {}
    text = part.get("text")
    return text if part.get("type") == "text" and isinstance(text, str) else ""


def _read_markup(text: str) -> str:
    if found := _TAG.match(text):
        return "an error statement" if _says_error(found[2].strip()) else ""
    if len(text) > _MAX_PAGE or text[-1:] != ">" or not _OPENS_PAGE.match(text):
        return ""
    title = _TITLE.search(text, 0, _HEAD)
    return "an error page" if (_OF_PAGE.match(title[2]) if title else _XML.match(text)) else ""


def _read_text(text: str, depth: int = 0) -> str:
    if _FRAMED.match(text):
        return "an exception" if _is_framed_whole(text) else ""
    head = text[:_HEAD]
    is_short = len(text) <= _HEAD
    if _OPENED.match(text) or _REPRESENTED.match(text) or (is_short and _EXACT.match(text)):
        return "a client's error"
    if _SAID.match(head):
        return "a client's error" if _are_of_error(text.split("\n")[1:]) else ""
    if found := _LABEL.match(head):
        kind = "an exception" if found["type"] else "an error statement"
        return kind if _is_statement(text[found.end() :], found["type"] or "", depth) else ""
    found = _FOR.match(head) if depth < _MAX_DEPTH else None
    return _read_text(text[found.end() :], depth + 1) if found else ""


def _is_statement(message: str, of_type: str, depth: int) -> bool:
    first, *more = message.split("\n")
    if (_says_error(first) or (of_type.endswith("KeyError") and message.isdecimal())) and _are_of_error(more):
        return True
    return depth < _MAX_DEPTH and bool(_read_text(message, depth + 1))


def _says_error(message: str) -> bool:
    has_words = len(message) <= _MAX_MESSAGE and sum(map(str.isalpha, message)) >= _MIN_LETTERS
    return has_words and not _SAYS_NO_ERROR.match(message)


def _are_of_error(lines: list[str]) -> bool:
    free = 0
    for line in lines:
        if not line.strip() or _BELONGS.match(line):
            continue
        field = _FIELD.match(line)
        if _ANOTHER.match(line) or (field is not None and field[1].lower() not in _FIELDS):
            return False
        free += 1 + len(line) // 200
    return free < _MAX_LINES


def _is_framed_whole(text: str) -> bool:
    # What stands behind the last frame is the exception, and nothing that another wrote.
    lines = text.split("\n")
    if text.startswith("+"):
        return all(line.lstrip()[:1] in ("|", "+") for line in lines)
    last = max((at for at, line in enumerate(lines) if line.startswith('  File "')), default=len(lines))
    ends = [at for at, line in enumerate(lines) if at > last and line.strip() and not line[0].isspace()]
    if not ends or any(line.startswith(_CHAINED) for line in lines[ends[0] :]):
        return False
    return _are_of_error(lines[ends[0] + 1 :]) or bool(_read_text("\n".join(lines[ends[0] :]), _MAX_DEPTH - 1))


def _is_error_object(answer: dict[str, Any]) -> bool:
    if answer.get("isError") is True or answer.get("is_error") is True:
        return True
    if "jsonrpc" in answer:
        return isinstance(answer.get("error"), dict) and not answer.get("result")
    # A record that was asked for has an id or a time: a job that failed is no call that failed.
    is_record = "id" in answer or any(name.endswith(("_at", "edAt")) for name in answer)
    if is_record or any(answer.get(name) is True for name in _DONE):
        return False
    if any(type(answer.get(name)) is int and answer[name] != 0 for name in _EXITS):
        return not answer.keys().isdisjoint(("stdout", "stderr", "output")) and answer.keys() <= _OF_RUNS
    others = [name for name in answer if name not in _OF_ERRORS and answer[name] not in (None, "", [], {})]
    if any(answer.get(name) is False for name in _DONE):
        data = [name for name in others if isinstance(answer[name], (list, dict)) and not _HINT.match(name)]
        return not data and any(answer.get(name) for name in (*_REASONS, "description"))
    speaks_of = next(iter(answer), "") in _ERRORS and all(map(_HINT.match, others))
    return (not others or speaks_of or _is_problem(answer)) and not _holds_data(answer) and _consists_of_error(answer)


def _is_problem(answer: dict[str, Any]) -> bool:
    # Tell whether an answer is a problem document of HTTP, which may have members of its own.
    says = isinstance(answer.get("title"), str) and isinstance(answer.get("detail"), str)
    return says and _is_status_of_error(answer.get("status"))


def _holds_data(answer: dict[str, Any]) -> bool:
    held: list[object] = []
    for value in (answer.get("data"), answer.get("result")):
        held += cast("dict[str, object]", value).values() if isinstance(value, dict) else [value]
    return any(value not in (None, "", [], {}, *_FAILED) for value in held)


def _consists_of_error(answer: dict[str, Any]) -> bool:
    detail = answer.get("detail")
    if len(answer) == 1 and isinstance(detail, dict) and not detail.keys() - _OF_ERRORS:
        answer = cast("dict[str, Any]", detail)
    if any(_gives_reason(answer.get(name)) for name in _ERRORS) or _are_errors(answer.get("errors")):
        return True
    reason = next((answer[name] for name in _REASONS if isinstance(answer.get(name), str) and answer[name]), "")
    code = answer.get("errcode", answer.get("code"))
    if not reason:
        of_system = isinstance(code, str) and ("syscall" in answer or (len(answer) == 1 and code in _CODES.split("|")))
        of_http = "title" in answer and _is_status_of_error(answer.get("status"))
        return of_system or of_http or bool(answer.get("errorMessages")) or _are_errors(answer.get("detail"))
    if any(map(_is_status_of_error, map(answer.get, _STATUSES))) or "documentation_url" in answer or "__type" in answer:
        return True
    if isinstance(code, str) and (_CODE.match(code) or {"code", "details", "hint", "message"} == answer.keys()):
        return True
    if type(code) is int and code >= _MIN_CODE and not answer.keys().isdisjoint(("errcode", "data")):
        return True
    failed = answer.get("error") is True or any(answer.get(name) in _FAILED for name in _VERDICTS)
    return failed or (sum(map(bool, answer.values())) == 1 and _OF_SERVER.match(reason) is not None)


def _gives_reason(error: object) -> bool:
    # Tell whether a field says what went wrong; that of a schema only says of what type it is.
    if not isinstance(error, dict):
        return isinstance(error, str) and _says_error(error)
    fields = cast("dict[str, object]", error)
    said = [fields[name] for name in (*_REASONS, "code", "Code") if isinstance(fields.get(name), (str, list))]
    named = fields.get("type")
    if isinstance(named, str) and _CODE.match(named):
        return True
    return any(said) or _is_status_of_error(fields.get("code")) or _is_status_of_error(fields.get("status"))


def _are_errors(errors: object) -> bool:
    entries = cast("list[object]", errors) if isinstance(errors, list) else []
    return bool(entries) and all(
        isinstance(entry, dict)
        and cast("dict[str, object]", entry).keys() <= _OF_ENTRY
        and any(cast("dict[str, object]", entry).get(name) for name in ("message", "msg", "detail", "title", "reason"))
        for entry in entries
    )


def _is_status_of_error(status: object) -> bool:
    if isinstance(status, str) and len(status) == len("404") and status.isdecimal():
        status = int(status)
    return type(status) is int and 400 <= status <= 599  # noqa: PLR2004 - the range of HTTP's errors
