"""The labels of a PromQL expression: which it may have, and where it names one that cannot be there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import promql_parser as promql

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Known = Mapping[str, frozenset[str]]
    Labels = frozenset[str]

KEEPS_LABELS: Final = frozenset({"topk", "bottomk", "limitk", "limit_ratio"})
SETS: Final = frozenset({"and", "or", "unless"})
NO_LABELS: Final[Labels] = frozenset()


def complaints(text: str, known: Known) -> list[str]:
    """Return what is wrong in an expression: its form, and names of metrics and labels that do not exist."""
    try:
        expression = promql.parse(text)
    except ValueError as error:
        return [f"does not parse: {error}"]
    return _Reader(known).read(expression)[1]


def labels_of(text: str, known: Known) -> Labels:
    """Return the labels that the answer of an expression may have."""
    return _Reader(known).read(promql.parse(text))[0]


def keeps_name(text: str) -> bool:
    """Return whether the answer of an expression may have all labels of a metric, its name among them."""
    return _keeps_name(promql.parse(text))


def _keeps_name(expression: Any) -> bool:
    if isinstance(expression, promql.VectorSelector | promql.MatrixSelector):
        return True
    if isinstance(expression, promql.AggregateExpr):
        return str(expression.op) in KEEPS_LABELS and _keeps_name(expression.expr)
    if isinstance(expression, promql.BinaryExpr):
        sides = (expression.lhs, expression.rhs) if str(expression.op) == "or" else (expression.lhs,)
        return any(_keeps_name(side) for side in sides)
    if isinstance(expression, promql.Call):
        return any(_keeps_name(each) for each in expression.args)
    return hasattr(expression, "expr") and _keeps_name(expression.expr)


class _Reader:
    """
    Reads one expression from the inside out.

    Args:
        known: The labels of every metric that there is.
    """

    def __init__(self, known: Known) -> None:
        self._known = known
        self._wrong: list[str] = []

    def read(self, expression: promql.Expr) -> tuple[Labels, list[str]]:
        """Return the labels of the answer, and what is wrong."""
        return self._labels(expression), self._wrong

    def _labels(self, expression: Any) -> Labels:
        readers: dict[type, Callable[[Any], Labels]] = {
            promql.VectorSelector: self._selector,
            promql.MatrixSelector: lambda matrix: self._selector(matrix.vector_selector),
            promql.AggregateExpr: self._aggregate,
            promql.BinaryExpr: self._binary,
            promql.Call: self._call,
            promql.NumberLiteral: lambda _: NO_LABELS,
            promql.StringLiteral: lambda _: NO_LABELS,
        }
        return readers.get(type(expression), lambda wrapped: self._labels(wrapped.expr))(expression)

    def _selector(self, selector: promql.VectorSelector) -> Labels:
        matchers = selector.matchers.matchers
        names = [selector.name] if selector.name else []
        for matcher in matchers:
            if matcher.name == "__name__":
                names += [name for name in self._known if re.fullmatch(matcher.value, name)]
        if not any(name in self._known for name in names):
            self._wrong.append(f"there is no metric {selector.name or selector.prettify()}")
            return frozenset(matcher.name for matcher in matchers)
        found = frozenset({"__name__"}).union(*(self._known[name] for name in names))
        for matcher in matchers:
            self._need(found, matcher.name, f"{' '.join(names)} has no label")
        return found

    def _aggregate(self, aggregate: promql.AggregateExpr) -> Labels:
        inner = self._labels(aggregate.expr)
        operator = str(aggregate.op)
        made = frozenset({aggregate.param.val}) if operator == "count_values" else NO_LABELS
        named: Labels = frozenset(aggregate.modifier.labels) if aggregate.modifier else NO_LABELS
        for label in named:
            self._need(inner, label, f"{operator} by or without a label that is not there:")
        if operator in KEEPS_LABELS:
            return inner
        if aggregate.modifier and aggregate.modifier.type == promql.AggModifierType.Without:
            return (inner - named - {"__name__"}) | made
        return (inner & named) | made

    def _binary(self, binary: promql.BinaryExpr) -> Labels:
        left, right = self._labels(binary.lhs), self._labels(binary.rhs)
        operator, modifier = str(binary.op), binary.modifier
        matching = modifier.matching if modifier else None
        named: Labels = frozenset(matching.labels) if matching else NO_LABELS
        included = matching is not None and matching.type == promql.LabelModifierType.Include
        for label in named if included else ():
            self._need(left, label, f"left of {operator} there is no label")
            self._need(right, label, f"right of {operator} there is no label")
        if operator in SETS:
            return left | right if operator == "or" else left
        if modifier is None or isinstance(binary.rhs, promql.NumberLiteral):
            return left or right
        card = modifier.card
        grouped: Labels = frozenset(modifier.group_labels or ())
        if card == promql.VectorMatchCardinality.ManyToOne:
            return self._grouped(left, right, grouped)
        if card == promql.VectorMatchCardinality.OneToMany:
            return self._grouped(right, left, grouped)
        if included:
            return named
        return (left & right or left | right) - {"__name__"}

    def _grouped(self, many: Labels, one: Labels, grouped: Labels) -> Labels:
        for label in grouped:
            self._need(one, label, "the one side of a grouping has no label")
        return many | grouped

    def _call(self, call: promql.Call) -> Labels:
        name = call.func.name
        found = NO_LABELS.union(*(self._labels(each) for each in call.args))
        if name not in {"last_over_time", "sort", "sort_desc", "first_over_time"}:
            found -= {"__name__"}
        if name in {"label_replace", "label_join"}:
            texts = [each.val for each in call.args[1:]]
            sources = texts[2:3] if name == "label_replace" else texts[2:]
            for source in filter(None, sources):
                self._need(found, source, f"{name} reads a label that is not there:")
            return found | {texts[0]}
        if name == "histogram_quantile":
            self._need(found, "le", "histogram_quantile needs the label")
            return found - {"le"}
        return NO_LABELS if name in {"scalar", "absent", "absent_over_time"} else found

    def _need(self, found: Labels, label: str, complaint: str) -> None:
        if label != "__name__" and label not in found:
            self._wrong.append(f"{complaint} {label}")
