"""The counts of one error class, and some of its raw errors."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from otel_errcompact_lab.html_report.arguments import read_arguments
from otel_errcompact_lab.html_report.bounded import Best, Histogram
from otel_errcompact_lab.html_report.model import STANDINGS, Example
from otel_errcompact_lab.html_report.text import mark_special

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact.engine.events import Observation
    from otel_errcompact.engine.report import ClassReport
    from otel_errcompact.errors import RawError
    from otel_errcompact_lab.html_report.model import Axis, Place, Standing

MAX_EXAMPLES: Final = 10
"""Different texts of one class; of more, the first ones."""

CLASS_ROOM: Final = 1_000_000
"""Characters that the texts of one class may take, as HTML; one text may take all the room of the page."""

END: Final = 4_000
"""Characters at either end of a text for which there is no room."""

MAX_PLACES: Final = 20
MAX_TOOLS: Final = 20


class ClassSummary:
    """The counts and examples of one class so far."""

    def __init__(self, observation: Observation, *, hide_secrets: Callable[[str], str], at: int) -> None:
        found = observation.found
        self.key = found.key
        self.type = hide_secrets(found.facts.type)
        self.location = hide_secrets(str(found.facts.location))
        self.cause = found.facts.cause
        self.template = found.template
        self.hint = self.digest = ""
        """What an agent would read at the first occurrence; empty where that is not known."""
        self.count = self.runs = self.escalations = 0
        self.streak: int | None = None
        """The longest, over all runs; None if the record holds nothing of what succeeded."""
        self.first_at = self.last_at = at
        self.first_ns: int | None = None
        self.last_ns: int | None = None
        self.characters = 0
        """Room that its texts take on the page."""
        self.standings: Counter[Standing] = Counter()
        """In how many runs it ended how."""
        self.bins: tuple[int, ...] = ()
        """Occurrences over the page's axis."""
        self._hide_secrets = hide_secrets
        self._times = Histogram()
        self._order = Histogram()
        self._tools: Counter[str] = Counter()
        self._kept: dict[bytes, Example] = {}
        self._places: Best[Place] = Best(MAX_PLACES)

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools, the most frequent first."""
        return tuple(self._hide_secrets(tool) for tool, _ in self._tools.most_common() if tool)

    @property
    def standing(self) -> Standing:
        """The worst end over all runs."""
        for standing in STANDINGS:
            if self.standings[standing]:
                return standing
        return "unknown"

    @property
    def examples(self) -> tuple[Example, ...]:
        """Its different texts."""
        return tuple(self._kept.values())

    @property
    def unshown(self) -> int:
        """Occurrences whose text is none of the examples'."""
        return self.count - sum(example.count for example in self.examples)

    @property
    def places(self) -> tuple[Place, ...]:
        """The runs with the most of it."""
        return self._places.entries()

    @property
    def more_places(self) -> int:
        """Further runs."""
        return self.runs - len(self._places)

    def observe(self, observation: Observation, *, at: int, time_ns: int | None) -> None:
        """Count one occurrence."""
        self.count += 1
        self.last_at = at
        self._order.add(at)
        if observation.raw.tool in self._tools or len(self._tools) < MAX_TOOLS:
            self._tools[observation.raw.tool] += 1
        if time_ns is not None:
            self._times.add(time_ns)
            self.first_ns = time_ns if self.first_ns is None else min(self.first_ns, time_ns)
            self.last_ns = time_ns if self.last_ns is None else max(self.last_ns, time_ns)

    def exemplify(self, raw: RawError, text: str, place: Place, time_ns: int | None, room: int) -> tuple[int, str]:
        """
        Keep a raw error; return its room, and its name where whole.

        Args:
            raw: The raw error.
            text: Its text as it is shown.
            place: Where it lies.
            time_ns: When it came; None if the record has no times.
            room: What is left for all classes.
        """
        name = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if (known := self._kept.get(name)) is not None:
            known.count += 1
            return 0, known.name if not known.cut else ""
        if len(self._kept) >= MAX_EXAMPLES:
            return 0, ""
        whole = self._fits_page(text, room)
        if not whole and self._kept:
            return 0, ""
        arguments, more = read_arguments(raw.arguments, self._hide_secrets)
        example = Example(
            name=f"x-{self.key}-{len(self._kept) + 1}",
            text=text if whole else text[:END],
            tail="" if whole else text[-END:],
            cut=0 if whole else len(text) - 2 * END,
            tool=self._hide_secrets(raw.tool),
            arguments=arguments,
            more_arguments=more,
            exit_code=raw.exit_code,
            time_ns=time_ns,
            trace_id=f"{raw.span.trace_id:032x}" if raw.span is not None else "",
            place=place,
        )
        self._kept[name] = example
        took = len(mark_special(example.text)) + len(mark_special(example.tail))
        self.characters += took
        return took, example.name if whole else ""

    def end(self, found: ClassReport, standing: Standing, place: Place, escalations: int) -> None:
        """Note how a run ended for the class."""
        self.runs += 1
        self.hint = self.hint or found.hint
        self.escalations += escalations
        self.standings[standing] += 1
        self._places.add(place, place.count)

    def spread(self, axis: Axis, bins: int) -> None:
        """Spread the occurrences over the page's axis."""
        counts = self._times if axis.timed else self._order
        self.bins = counts.bins(axis.first, axis.last, bins)

    def _fits_page(self, text: str, room: int) -> bool:
        # What is certainly too long is not turned into HTML to know it.
        if len(text) > room:
            return len(text) <= 2 * END
        size = len(mark_special(text))
        within = not self._kept or self.characters + size <= CLASS_ROOM
        return (size <= room and within) or len(text) <= 2 * END
