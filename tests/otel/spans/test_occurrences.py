"""One occurrence through many spans: counted once, and a second occurrence counted again."""

from __future__ import annotations

import asyncio
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from opentelemetry import trace
from opentelemetry.trace import Status, StatusCode

if TYPE_CHECKING:
    from collections.abc import Iterator


class Refusing(Exception):
    """An exception that takes no attributes but those of Python itself."""

    def __setattr__(self, name: str, value: object) -> None:
        if name != "__traceback__":
            raise AttributeError(name)
        super().__setattr__(name, value)


def nested(tracer: trace.Tracer, error: BaseException, depth: int = 3, **options: bool) -> None:
    """Raise `error` through `depth` nested spans."""
    with tracer.start_as_current_span(f"level {depth}", **options):
        if depth == 1:
            raise error
        nested(tracer, error, depth - 1, **options)


def fail(tracer: trace.Tracer, name: str, error: BaseException) -> None:
    """A span that fails, and whose caller handles it."""
    with pytest.raises(type(error)), tracer.start_as_current_span(name):
        raise error


class TestPassedUp:
    def test_three_nested_spans(self, rig, tracer):
        """An exception that bubbles through three spans is one occurrence, at the innermost."""
        with pytest.raises(ValueError, match="boom"):
            nested(tracer, ValueError("boom"))
        assert rig.told.tools == ["level 1"]
        assert rig.processor.duplicates == 2

    def test_exception_that_refuses_attributes(self, rig, tracer):
        """Where an exception cannot be marked, child and parent with equal type and message are one occurrence."""
        with pytest.raises(Refusing):
            nested(tracer, Refusing("boom"))
        assert rig.told.tools == ["level 1"]
        assert rig.processor.duplicates == 2

    def test_ended_after_the_handler(self, rig, tracer):
        """Where the exception object is gone, child and parent with equal type and message are one occurrence."""
        outer = tracer.start_span("outer")
        inner = tracer.start_span("inner", context=trace.set_span_in_context(outer))
        try:
            raise ValueError("boom")
        except ValueError as error:
            inner.record_exception(error)
            outer.record_exception(error)
        for span in (inner, outer):
            span.set_status(StatusCode.ERROR)
            span.end()
        assert rig.told.tools == ["inner"]
        assert rig.processor.duplicates == 1

    def test_status_above_event(self, rig, tracer):
        """A parent that has only `error.type` and a description passes on its child's exception."""
        outer = tracer.start_span("outer")
        with (
            pytest.raises(ConnectionError),
            tracer.start_as_current_span("inner", context=trace.set_span_in_context(outer)),
        ):
            raise ConnectionError("refused")
        outer.set_attribute("error.type", "builtins.ConnectionError")
        outer.set_status(Status(StatusCode.ERROR, "refused"))
        outer.end()
        assert rig.told.tools == ["inner"]

    def test_grandparent(self, rig, tracer):
        """What a parent passes on it passes on to its own parent too."""
        spans = [tracer.start_span("outer")]
        for name in ("middle", "inner"):
            spans.append(tracer.start_span(name, context=trace.set_span_in_context(spans[-1])))
        for span in reversed(spans):
            span.set_attribute("error.type", "timeout")
            span.set_status(Status(StatusCode.ERROR, "took 3 s"))
            span.end()
        assert rig.told.tools == ["inner"]
        assert rig.processor.duplicates == 2

    def test_async(self, rig, tracer):
        """An exception passes through awaited spans as one occurrence."""

        async def inner() -> None:
            with tracer.start_as_current_span("inner"):
                await asyncio.sleep(0)
                raise ValueError("boom")

        async def outer() -> None:
            with tracer.start_as_current_span("outer"):
                await asyncio.create_task(inner())

        with pytest.raises(ValueError, match="boom"):
            asyncio.run(outer())
        assert rig.told.tools == ["inner"]

    def test_thread(self, rig, tracer):
        """An exception that comes back from a worker thread is one occurrence."""

        def inner(context: object) -> None:
            with tracer.start_as_current_span("inner", context=context):
                raise ValueError("boom")

        with (
            pytest.raises(ValueError, match="boom"),
            ThreadPoolExecutor(1) as pool,
            tracer.start_as_current_span("outer") as span,
        ):
            pool.submit(inner, trace.set_span_in_context(span)).result()
        assert rig.told.tools == ["inner"]

    def test_zero_length_spans(self, rig, tracer):
        """Spans played back with coarse times, all equal, are still child and parent."""
        error = ValueError("boom")
        outer = tracer.start_span("outer", start_time=5)
        inner = tracer.start_span("inner", context=trace.set_span_in_context(outer), start_time=5)
        try:
            raise error
        except ValueError:
            for span in (inner, outer):
                span.record_exception(error)
                span.set_status(StatusCode.ERROR)
                span.end(end_time=5)
        assert rig.told.tools == ["inner"]

    def test_very_long_message(self, rig, tracer):
        """A message of any length is recognised by its beginning."""
        with pytest.raises(Refusing):
            nested(tracer, Refusing("x" * 100_000))
        assert rig.processor.duplicates == 2

    def test_wide_fan_out(self, rig, tracer):
        """Of very many failed children the newest eight are remembered for their parent."""
        outer = tracer.start_span("outer")
        for number in range(12):
            child = tracer.start_span("inner", context=trace.set_span_in_context(outer))
            child.set_status(Status(StatusCode.ERROR, f"no {number};"))
            child.end()
        outer.set_status(Status(StatusCode.ERROR, "no 4;"))
        outer.end()
        assert len(rig.told.observed) == 12
        assert rig.processor.duplicates == 1


class TestWrapped:
    def test_raise_from(self, rig, tracer):
        """A wrapper raised from a known failure is the same occurrence."""

        def outer() -> None:
            with tracer.start_as_current_span("outer"):
                try:
                    nested(tracer, KeyError("a"), depth=1)
                except KeyError as error:
                    raise RuntimeError("no such order") from error

        with pytest.raises(RuntimeError):
            outer()
        assert rig.told.tools == ["level 1"]
        assert rig.processor.duplicates == 1

    def test_raised_while_handling(self, rig, tracer):
        """So is an exception raised while a known failure is handled."""

        def outer() -> None:
            with tracer.start_as_current_span("outer"):
                try:
                    nested(tracer, KeyError("a"), depth=1)
                except KeyError:
                    raise RuntimeError("no such order")  # noqa: B904 - that is what is tested

        with pytest.raises(RuntimeError):
            outer()
        assert rig.told.tools == ["level 1"]

    def test_wrapper_without_live_exception(self, rig, tracer):
        """Where the exception object is gone, a parent whose stack trace holds the child's last line is the same."""

        def outer() -> BaseException:
            try:
                try:
                    with tracer.start_as_current_span("inner", context=trace.set_span_in_context(span)):
                        raise KeyError("a")
                except KeyError as error:
                    raise RuntimeError("no such order") from error
            except RuntimeError as error:
                return error

        span = tracer.start_span("outer")
        span.record_exception(outer())
        span.set_status(StatusCode.ERROR)
        span.end()
        assert rig.told.tools == ["inner"]
        assert rig.processor.duplicates == 1

    def test_from_none(self, rig, tracer):
        """An exception that is cut off from its context by `from None` stands for itself."""

        def outer() -> None:
            with tracer.start_as_current_span("outer"):
                try:
                    nested(tracer, KeyError("a"), depth=1)
                except KeyError:
                    raise RuntimeError("no such order") from None

        with pytest.raises(RuntimeError):
            outer()
        assert rig.told.tools == ["level 1", "outer"]

    def test_group(self, rig, tracer):
        """A group of known failures is no further occurrence."""

        def outer() -> None:
            with tracer.start_as_current_span("outer"):
                errors = []
                for message in ("a", "b"):
                    try:
                        nested(tracer, ValueError(message), depth=1)
                    except ValueError as error:
                        errors.append(error)
                raise ExceptionGroup("2 failed", errors)

        with pytest.raises(ExceptionGroup):
            outer()
        assert rig.told.causes == ["a", "b"]
        assert rig.processor.duplicates == 1

    def test_chain_in_a_circle(self, rig, tracer):
        """A chain that runs in a circle is walked once."""
        error, other = ValueError("a"), ValueError("b")
        error.__cause__, other.__cause__ = other, error
        fail(tracer, "work", error)
        assert rig.told.tools == ["work"]

    def test_foreign_exceptions_attribute(self, rig, tracer):
        """An attribute `exceptions` that is no tuple of exceptions is left alone."""
        error = ValueError("a")
        error.exceptions = [1, 2]  # type: ignore[attr-defined]
        fail(tracer, "work", error)
        other = ValueError("b")
        other.exceptions = (1, 2)  # type: ignore[attr-defined]
        fail(tracer, "work", other)
        assert rig.told.causes == ["a", "b"]


class TestSecondOccurrence:
    def test_equal_siblings(self, rig, tracer):
        """Two attempts that fail alike are two occurrences, and their parent's failure is none."""

        def outer() -> None:
            with tracer.start_as_current_span("outer"):
                fail(tracer, "attempt", TimeoutError("3 s"))
                with tracer.start_as_current_span("attempt"):
                    raise TimeoutError("3 s")

        with pytest.raises(TimeoutError):
            outer()
        assert rig.told.tools == ["attempt", "attempt"]
        assert rig.processor.duplicates == 1

    def test_the_same_object_again(self, rig, tracer):
        """One exception object that is raised by two attempts is two occurrences."""
        error = TimeoutError("3 s")
        with tracer.start_as_current_span("outer"):
            fail(tracer, "attempt", error)
            fail(tracer, "attempt", error)
        assert rig.told.tools == ["attempt", "attempt"]

    def test_retry_inside_the_handler(self, rig, tracer):
        """An attempt made while the first one's failure is handled is another occurrence, in spite of its context."""

        def outer() -> None:
            with tracer.start_as_current_span("outer"):
                try:
                    nested(tracer, TimeoutError("first"), depth=1)
                except TimeoutError:
                    nested(tracer, TimeoutError("second"), depth=1)

        with pytest.raises(TimeoutError):
            outer()
        assert [observation.raw.message for observation in rig.told.observed] == ["first", "second"]
        assert rig.processor.duplicates == 1

    def test_another_trace(self, rig, tracer):
        """An exception object that is raised in another trace is another occurrence."""
        error = TimeoutError("3 s")
        fail(tracer, "one", error)
        fail(tracer, "two", error)
        assert rig.told.tools == ["one", "two"]

    def test_foreign_exception_in_flight(self, rig, tracer):
        """A span that fails by itself while somebody else's exception is handled is an occurrence of its own."""
        try:
            raise ValueError("foreign")
        except ValueError:
            span = tracer.start_span("work")
            span.set_attribute("error.type", "timeout")
            span.set_status(Status(StatusCode.ERROR, "3 s"))
            span.end()
        assert [observation.raw.type for observation in rig.told.observed] == ["timeout"]
        assert rig.told.observed[0].raw.exception is None


class TestNotFailures:
    def test_handled_and_recorded(self, rig, tracer):
        """An exception that is recorded on a span that does not fail was handled: it is counted as that."""
        with tracer.start_as_current_span("work") as span:
            try:
                raise ValueError("boom")
            except ValueError as error:
                span.record_exception(error)
        assert rig.told.observed == []
        assert rig.told.handled_messages == ["boom"]

    def test_attempts_on_one_span(self, rig, tracer):
        """Of several exceptions on one span the last is what it failed with, and the others were handled."""

        def work() -> None:
            with tracer.start_as_current_span("work") as span:
                for number in range(2):
                    span.record_exception(TimeoutError(f"attempt {number}"))
                raise ConnectionError("gave up")

        with pytest.raises(ConnectionError):
            work()
        assert rig.told.causes == ["gave up"]
        assert rig.told.handled_messages == ["attempt 0", "attempt 1"]

    @pytest.mark.parametrize("error", [asyncio.CancelledError(), KeyboardInterrupt(), SystemExit(2), GeneratorExit()])
    def test_cancellation(self, rig, tracer, error):
        """A cancellation is no failure, also where the SDK records it as one."""
        with pytest.raises(type(error)), tracer.start_span("work"):
            raise error
        assert rig.told.observed == []
        assert rig.told.handled == []

    def test_recorded_cancellation(self, rig, tracer):
        """A recorded cancellation is no failure either where its object is gone."""
        with tracer.start_as_current_span("work") as span:
            span.record_exception(asyncio.CancelledError())
            span.record_exception(ValueError("boom"))
            span.record_exception(KeyboardInterrupt())
        assert rig.told.handled_messages == ["boom"]

    def test_healthy_parent_of_a_handled_failure(self, rig, tracer):
        """A parent that handles its child's failure has none."""
        with tracer.start_as_current_span("outer"):
            fail(tracer, "inner", ValueError("boom"))
        assert rig.told.tools == ["inner"]


def test_marked_exception_can_be_pickled(rig, tracer):
    """An exception that a span has seen still goes to another process."""
    error = ValueError("boom")
    fail(tracer, "work", error)
    assert pickle.loads(pickle.dumps(error)).args == ("boom",)


def test_kept_exception_is_freed(rig, tracer):
    """Nothing keeps an exception, which would keep its frames, alive."""
    import gc
    import weakref

    class Local(Exception):
        pass

    def work() -> weakref.ref[Local]:
        error = Local("boom")
        with tracer.start_as_current_span("execute_tool x"):
            fail(tracer, "inner", error)
        return weakref.ref(error)

    reference = work()
    rig.told.observed.clear()
    gc.collect()
    assert reference() is None


def generator(tracer: trace.Tracer) -> Iterator[int]:
    with tracer.start_as_current_span("stream"):
        yield 1
        yield 2


def test_abandoned_generator(rig, tracer):
    """A stream that its reader abandons has not failed."""
    stream = generator(tracer)
    next(stream)
    stream.close()
    assert rig.told.observed == []
