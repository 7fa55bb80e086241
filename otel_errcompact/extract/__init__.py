"""From a raw error to its facts: a table of extractors, one file for each family of formats."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import RawError
from otel_errcompact.extract import live
from otel_errcompact.extract.chain import facts_of
from otel_errcompact.extract.clipping import MAX_DETAIL, clip, details
from otel_errcompact.extract.formats import (
    apt,
    beam,
    bundlers,
    cargo,
    cargotest,
    cmake,
    compilers,
    database,
    dialyzer,
    docker,
    dotnet,
    eslint,
    exunit,
    git,
    go,
    gomod,
    gotest,
    harness,
    http,
    infra,
    ipython,
    javascript,
    jest,
    junit,
    jvm,
    llm,
    make,
    maven,
    mocha,
    npm,
    php,
    phpunit,
    pip,
    plain,
    prose,
    pytest,
    python,
    rich,
    rpc,
    rspec,
    ruby,
    ruff,
    rust,
    rustc,
    shell,
    unittest,
)
from otel_errcompact.extract.message import NO_MESSAGE
from otel_errcompact.extract.prefilter import Extractor, Sieve
from otel_errcompact.extract.text import Text, read_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.errors import Facts
    from otel_errcompact.extract.chain import Failure

__all__ = ["EXTRACTORS", "Extractor", "Text", "extract", "extract_text"]


EXTRACTORS: Final[list[Extractor]] = [
    Extractor(name="harness", extract=harness.extract, markers=harness.MARKERS),
    Extractor(name="pytest", extract=pytest.extract, markers=pytest.MARKERS),
    Extractor(name="unittest", extract=unittest.extract, markers=unittest.MARKERS),
    Extractor(name="phpunit", extract=phpunit.extract, markers=phpunit.MARKERS),
    Extractor(name="jest", extract=jest.extract, markers=jest.MARKERS),
    Extractor(name="mocha", extract=mocha.extract, markers=mocha.MARKERS),
    Extractor(name="gotest", extract=gotest.extract, markers=gotest.MARKERS),
    Extractor(name="cargotest", extract=cargotest.extract, markers=cargotest.MARKERS),
    Extractor(name="junit", extract=junit.extract, markers=junit.MARKERS),
    Extractor(name="exunit", extract=exunit.extract, markers=exunit.MARKERS),
    Extractor(name="rspec", extract=rspec.extract, markers=rspec.MARKERS),
    Extractor(name="pip", extract=pip.extract, markers=pip.MARKERS),
    Extractor(name="ruby", extract=ruby.extract, markers=ruby.MARKERS),
    Extractor(name="python", extract=python.extract, markers=python.MARKERS),
    Extractor(name="ipython", extract=ipython.extract, markers=ipython.MARKERS),
    Extractor(name="go", extract=go.extract, markers=go.MARKERS),
    Extractor(name="gomod", extract=gomod.extract, markers=gomod.MARKERS),
    Extractor(name="rust", extract=rust.extract, markers=rust.MARKERS),
    Extractor(name="rich", extract=rich.extract, markers=rich.MARKERS),
    Extractor(name="bundlers", extract=bundlers.extract, markers=bundlers.MARKERS),
    Extractor(name="javascript", extract=javascript.extract, markers=javascript.MARKERS),
    Extractor(name="jvm", extract=jvm.extract, markers=jvm.MARKERS),
    Extractor(name="dotnet", extract=dotnet.extract, markers=dotnet.MARKERS),
    Extractor(name="php", extract=php.extract, markers=php.MARKERS),
    Extractor(name="dialyzer", extract=dialyzer.extract, markers=dialyzer.MARKERS),
    Extractor(name="beam", extract=beam.extract, markers=beam.MARKERS),
    Extractor(name="rustc", extract=rustc.extract, markers=rustc.MARKERS),
    Extractor(name="eslint", extract=eslint.extract, markers=eslint.MARKERS),
    Extractor(name="ruff", extract=ruff.extract, markers=ruff.MARKERS),
    Extractor(name="compilers", extract=compilers.extract, markers=compilers.MARKERS),
    Extractor(name="maven", extract=maven.extract, markers=maven.MARKERS),
    Extractor(name="npm", extract=npm.extract, markers=npm.MARKERS),
    Extractor(name="cargo", extract=cargo.extract, markers=cargo.MARKERS),
    Extractor(name="cmake", extract=cmake.extract, markers=cmake.MARKERS),
    Extractor(name="make", extract=make.extract, markers=make.MARKERS),
    Extractor(name="git", extract=git.extract, markers=git.MARKERS),
    Extractor(name="docker", extract=docker.extract, markers=docker.MARKERS),
    Extractor(name="infra", extract=infra.extract, markers=infra.MARKERS),
    Extractor(name="apt", extract=apt.extract, markers=apt.MARKERS),
    Extractor(name="database", extract=database.extract, markers=database.MARKERS),
    Extractor(name="rpc", extract=rpc.extract, markers=rpc.MARKERS),
    Extractor(name="llm", extract=llm.extract, markers=llm.MARKERS),
    Extractor(name="http", extract=http.extract),
    Extractor(name="shell", extract=shell.extract),
    Extractor(name="plain", extract=plain.extract),
    Extractor(name="prose", extract=prose.extract),
]
"""
All extractors in the order in which they are tried; the last one takes any text.

What may hold the output of others stands before them: test runners before stacks, stacks before compilers, compilers
before the build tools that call them, and those before services and shells.
"""


_PORTION: Final = 15
"""Extractors whose markers are looked for at once; what comes behind the one that takes a text is never looked for."""

_SIEVES: Final = tuple(Sieve(EXTRACTORS[start : start + _PORTION]) for start in range(0, len(EXTRACTORS), _PORTION))

_SAYS_NO_MORE: Final = frozenset({"prose", "plain", "http", "rpc", "llm", "harness", "database"})
"""Formats that tell of an output no more than the exception that repeats it has told already."""

_MIN_REPEATED: Final = 24
"""Characters of a cause that show that it is the beginning of the output."""


def extract(raw: RawError) -> Facts:
    """
    Return the facts of a raw error. Never raises, whatever the input.
    """
    if raw.exception is not None:
        return facts_of_exceptions(live.read_chain(raw.exception, raw.messages))
    return extract_text(read_text(raw))


def facts_of_exceptions(chain: Sequence[Failure]) -> Facts:
    """
    Return the facts of exceptions at hand, outermost first.
    """
    return _looked_into(facts_of(chain, source_of=live.loaded_line))


def extract_text(text: Text) -> Facts:
    """
    Return what the first extractor finds that recognises `text`.
    """
    return _looked_into(_recognised(text))


def _recognised(text: Text) -> Facts:
    for sieve in _SIEVES:
        for extractor in sieve.candidates(text.body):
            facts = extractor.extract(text)
            if facts is not None:
                return _whole(facts)
    return prose.extract(text)


def _whole(facts: Facts) -> Facts:
    """
    Return facts with a type in one line and a cause: an output that is cut or garbled may have left neither.
    """
    if facts.cause and len(facts.type) <= MAX_DETAIL and "\n" not in facts.type:
        return facts
    return replace(facts, type=clip(" ".join(facts.type.split()), MAX_DETAIL), cause=facts.cause or NO_MESSAGE)


def _looked_into(facts: Facts) -> Facts:
    """
    Return the facts of the output that an exception repeats, where a format recognises it; the exception wraps it.

    Tools that run programs raise what those have printed, and the cause is in there.
    """
    if not facts.output:
        return facts
    inner = _recognised(read_text(RawError(text=facts.output)))
    if inner.format in _SAYS_NO_MORE:
        return replace(facts, output="")
    at = f" at {facts.location}" if facts.location else ""
    said = "" if facts.cause[:_MIN_REPEATED] in facts.output else f": {facts.cause}"
    return replace(
        inner,
        location=inner.location or facts.location,
        details=details((*inner.details, f"raised as {facts.type}{at}{said}"), len(inner.details) + 1),
        wrappers=(*facts.wrappers, facts.type),
        output="",
    )
