"""Stacks that the JVM prints, with their causes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.forms import Found, Lines, form
from otel_errcompact.extract.stacks.failure import Failure
from otel_errcompact.extract.stacks.frames import Frame
from otel_errcompact.extract.stacks.recursion import recursion_of
from otel_errcompact.extract.statements import indentation, is_exception_name
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CUT_OFF: Final = "the stack is cut off before its first line"

_RUNTIME: Final = (
    "java.", "javax.", "jdk.", "sun.", "com.sun.", "kotlin.", "kotlinx.", "scala.", "dotty.", "groovy.",
    "org.codehaus.groovy.", "org.apache.groovy.", "clojure.", "dalvik.", "android.os.", "com.android.internal.",
    "org.junit.", "junit.", "org.opentest4j.", "org.hamcrest.", "org.assertj.", "org.testng.", "org.scalatest.",
    "munit.", "io.kotest.", "org.gradle.", "worker.org.gradle.", "org.apache.maven.", "sbt.", "com.intellij.",
    "org.mockito.", "net.bytebuddy.", "jakarta.", "oracle.jrockit.", "py4j.",
)  # fmt: skip
"""Packages of languages, their standard libraries and test runners: never the user's own."""

_LIBRARIES: Final = (
    "org.springframework.", "org.apache.", "org.hibernate.", "reactor.", "io.netty.", "com.fasterxml.", "com.google.",
    "org.eclipse.", "org.postgresql.", "com.mysql.", "org.mariadb.", "org.h2.", "org.sqlite.", "oracle.", "com.zaxxer.",
    "com.mongodb.", "redis.clients.", "io.lettuce.", "org.redisson.", "org.flywaydb.", "liquibase.", "org.jooq.",
    "okhttp3.", "okio.", "retrofit2.", "feign.", "io.grpc.", "io.micrometer.", "io.opentelemetry.", "io.undertow.",
    "io.vertx.", "io.quarkus.", "io.smallrye.", "io.micronaut.", "io.reactivex.", "rx.", "akka.", "play.", "zio.",
    "cats.", "org.slf4j.", "ch.qos.logback.", "org.jboss.", "org.aspectj.", "org.thymeleaf.", "org.yaml.", "org.json.",
    "org.xerial.", "org.jetbrains.", "io.ktor.", "androidx.", "android.", "com.android.", "software.amazon.",
    "com.amazonaws.", "com.microsoft.", "io.restassured.", "io.cucumber.", "org.openqa.", "picocli.", "lombok.",
    "org.mapstruct.", "org.objectweb.", "graphql.", "jnr.", "com.sksamuel.", "freemarker.", "io.jsonwebtoken.",
    "org.bouncycastle.",
)  # fmt: skip
"""Packages that nearly everybody only depends on."""

_GENERATED: Final = ("$$Enhancer", "$$FastClass", "$$SpringCGLIB", "$$Lambda", "$Proxy", "$ByteBuddy$")
_FOREIGN: Final = _RUNTIME + _LIBRARIES
_SILENT: Final = ("kotlinx.", "reactor.")
_FRAME: Final = form(
    r"at (?P<class>[^\s():][^():\n]{0,500})\.(?P<method>[^():.\n]{1,200})\((?:Native Method|Unknown Source"
    r"|<generated>|(?P<file>[\w$@+. -]{1,200}))(?::{line})?\)(?P<jar> ~?\[[^\]\n]{1,200}\])?$"
)
_NAME: Final = r"(?P<type>[A-Za-z_$][\w$]{0,200}(?:\.[\w$]{1,200}){0,30})"
_HEADER: Final = lazy_pattern(
    r'(?P<kind>Exception in thread "[^"\n]{0,200}" |Caused by: |Suppressed: |Wrapped by: |Uncaught Kotlin exception: |)'
    rf"{_NAME}(?::[ ]?(?P<message>.*))?$"
)
_LAUNCHER: Final = form(r"Error: (?P<message>(?:Could not find or load|LinkageError occurred while loading) main .*)")
_IN_RECORD: Final = form(r"(?:^|[\s:(])(?P<type>(?:[a-z_]\w{0,100}\.){1,30}[A-Z][\w$]{0,200})(?:: (?P<message>.*))?$")
_EXPLICIT: Final = (
    "Caused by: ", "Suppressed: ", "Wrapped by: ", "Exception in thread ", "Error: ", "Uncaught Kotlin ",
)  # fmt: skip
_THROWABLE: Final = ("Exception", "Error", "Throwable")
_UNQUALIFIED: Final = form(
    r"(?:java\.(?:[a-z]\w{0,40}\.){1,6}|(?:org\.opentest4j|org\.junit|junit\.framework)\.)(?=[A-Z]\w{0,200}$)"
)

_MAX_SUPPRESSED: Final = 12
"""Suppressed exceptions of one exception that are told."""

_MAX_LOOSE: Final = 40
"""Lines before the first frame among which the line with type and message is looked for."""

_LAMBDA: Final = form(
    r"lambda\$(?P<java>\w{1,100})\$[0-9]+$|\$anonfun\$(?P<scala>[a-zA-Z]\w{0,100})\$[0-9]+$"
    r"|(?P<outer>[a-zA-Z]\w{0,100})(?:\$lambda|\$\$anonfun|\$mc[A-Z]{1,4}\$sp)[\w$]{0,60}$"
)
_ANONYMOUS: Final = form(r"(?:\$\$anon(?:fun)?|\${number}|\$package)(?![A-Za-z])|\$\$?$")


def chains_of(lines: Iterable[str]) -> list[tuple[Failure, ...]]:
    """Return all chains of exceptions that `lines` print, each outermost first."""
    chains: list[list[_Block]] = []
    for block in _read_blocks(lines):
        if block.kind in {"Caused by: ", "Suppressed: ", "Wrapped by: "} and chains:
            chains[-1].append(block)
        else:
            chains.append([block])
    said = [chain for chain in chains if any(map(_is_certain, chain))]
    cut_off = [chain for chain in chains[:1] if chain[0].innermost is not None]
    return [_build_failures(chain) for chain in said or cut_off]


def _is_certain(block: _Block) -> bool:
    # Tell whether an exception is one of the JVM: it has frames, or at least the package of its class.
    return bool(block.type) and (block.innermost is not None or "." in block.type)


# --- lines -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class _Block:
    """One printed exception: the line with type and message, and its frames."""

    kind: str = ""
    indent: int = 0
    type: str = ""
    message: str = ""
    more: list[str] = field(default_factory=list[str])
    """Lines behind the first one; they belong to the message if frames follow."""

    own: Frame | None = None
    innermost: Frame | None = None
    outside_runtime: Frame | None = None
    """The innermost frame outside of the runtime."""

    stack: list[Frame] = field(default_factory=list[Frame])
    """All own frames of a stack that overflowed."""

    def add(self, found: Found) -> None:
        """Take a frame into account, from the innermost outwards."""
        overflow = self.type.endswith("StackOverflowError")
        if self.own is not None and not overflow:
            return
        name = found["class"].rpartition("/")[2]
        frame = _build_frame(name, found)
        self.innermost = self.innermost or frame
        if name.startswith(_RUNTIME):
            return
        self.outside_runtime = self.outside_runtime or frame
        if _is_own(name, found["jar"]):
            self.own = self.own or frame
            if overflow:
                self.stack.append(frame)


def _read_blocks(lines: Iterable[str]) -> list[_Block]:
    blocks: list[_Block] = []
    loose: list[str] = []
    for line in lines:
        stripped = line.lstrip()
        if stripped.startswith("at "):
            found = _FRAME.match(stripped)
            if found is not None:
                _add_frame(blocks, loose, found)
                loose = []
                continue
        if stripped.startswith(_EXPLICIT):
            header = _read_marked_header(stripped, len(line) - len(stripped))
            if header is not None:
                blocks.append(header)
                loose = []
                continue
        if stripped and not stripped.startswith("... "):
            loose.append(line)
            if blocks and blocks[-1].innermost is None and len(loose) <= _MAX_LOOSE:
                blocks[-1].more.append(stripped)
    return blocks


def _add_frame(blocks: list[_Block], loose: Lines, found: Found) -> None:
    opened = bool(blocks) and blocks[-1].innermost is None
    if loose and not opened:
        header = _find_loose_header(loose[-_MAX_LOOSE:])
        if header is not None:
            blocks.append(header)
    if not blocks:
        if loose:
            return
        blocks.append(_Block())
    blocks[-1].add(found)


def _read_marked_header(line: str, indent: int) -> _Block | None:
    found = _HEADER.match(line)
    if found is not None and found["kind"]:
        return _Block(kind=found["kind"], indent=indent, type=found["type"], message=found["message"] or "")
    launcher = _LAUNCHER.match(line)
    return _Block(type="Error", message=launcher["message"]) if launcher is not None else None


def _find_loose_header(lines: Lines) -> _Block | None:
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        found = _HEADER.match(line.lstrip())
        if found is None or not is_exception_name(found["type"]):
            found = _IN_RECORD.search(line)
            if found is None or not found["type"].endswith(_THROWABLE):
                continue
        more = [following.strip() for following in lines[number + 1 :]]
        indent = indentation(line)
        return _Block(indent=indent, type=found["type"], message=found["message"] or "", more=more)
    return None


# --- frames ----------------------------------------------------------------------------------------------------------


def _is_own(name: str, jar: str | None) -> bool:
    if name.startswith(_FOREIGN) or (jar is not None and ".jar" in jar and "!" not in jar):
        return False
    return not any(part in name for part in _GENERATED)


def _build_frame(name: str, found: Found) -> Frame:
    file = found["file"] or ""
    line = found["line"]
    return Frame(file, int(line) if line and file else None, function_of(name, found["method"], file))


def function_of(name: str, method: str, file: str = "") -> str:
    """
    Return a method without package, lambda numbers and anonymous classes.

    The source file tells Clojure's functions.
    """
    if file.endswith((".clj", ".cljc")):
        namespace, _, function = name.partition("$")
        return f"{namespace}/{function.partition('$')[0]}"
    found = _LAMBDA.match(method) if "$" in method else None
    if found is not None:
        method = found["java"] or found["scala"] or found["outer"]
    simple = name.rpartition(".")[2]
    return f"{_ANONYMOUS.sub('', simple) if '$' in simple else simple}.{method}"


# --- chains ----------------------------------------------------------------------------------------------------------


def _build_failures(blocks: Sequence[_Block]) -> tuple[Failure, ...]:
    # Turn the exceptions of one chain into failures; suppressed ones belong to the exception before them.
    blocks = [block for block in blocks if block.type] or blocks
    chain: list[Failure] = []
    suppressed_at = -1
    for block in blocks:
        is_of_suppressed = suppressed_at >= 0 and block.kind == "Caused by: " and block.indent >= suppressed_at
        if not is_of_suppressed:
            suppressed_at = block.indent if block.kind == "Suppressed: " else -1
        if suppressed_at < 0 or not chain:
            chain.append(_build_failure(block))
        elif not block.type.startswith(_SILENT) and len(chain[-1].attributes) < _MAX_SUPPRESSED:
            chain[-1] = chain[-1]._replace(attributes=(*chain[-1].attributes, _write_suppressed(block)))
    if any(block.kind == "Wrapped by: " for block in blocks):
        chain.reverse()
    return tuple(chain)


def _write_suppressed(block: _Block) -> str:
    place = block.own or block.outside_runtime
    at = f" at {place.place()}" if place is not None else ""
    said = f": {block.message}" if block.message else ""
    return f"{block.kind.rstrip(': ').lower()} {_shorten_class(block.type)}{at}{said}"


def _build_failure(block: _Block) -> Failure:
    message = "\n".join((block.message, *block.more)) if block.innermost is not None else block.message
    # The JVM prints the innermost 1024 frames.
    recursion = recursion_of(((frame, 1) for frame in reversed(block.stack)), lambda _: True, is_cut=True)
    own = recursion.place if recursion is not None else block.own
    is_innermost = bool(block.stack) or (own is not None and block.outside_runtime is own)
    innermost = own if is_innermost else block.outside_runtime or block.innermost
    kind = _shorten_class(block.type) or "Exception"
    return Failure(kind, message if block.type else CUT_OFF, own, innermost, recursion=recursion)


def _shorten_class(name: str) -> str:
    # Return a class without its package where that says nothing.
    found = _UNQUALIFIED.match(name)
    return name[found.end() :] if found is not None else name
