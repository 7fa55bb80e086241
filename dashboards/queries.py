"""
What the dashboards ask: PromQL, TraceQL and LogQL as text, and nothing about how an answer looks.

A counter of the library is born with its first occurrence, so `increase()` misses the first burst of a class, and a
process that has ended leaves no instant value; `grown()` is exact for both. Every window is at least three minutes
wide, since an exporter may push only once a minute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dashboards.classes import ON, STUCK
from dashboards.metrics import (
    AGENT,
    ALERTS,
    CLASS,
    CLASS_FAILING_SINCE,
    CLASS_FIRST_SEEN,
    CLASS_INFO_KEPT,
    CLASS_LAST_SEEN,
    CLASS_ROW,
    CLASS_STATE,
    ENVIRONMENT,
    ERROR_TYPE,
    ERRORS,
    ESCALATIONS,
    HANDLED,
    HINT,
    LOCATION,
    MEMBER,
    MEMBERS,
    MESSAGE,
    NAMESPACE,
    NEW,
    OUTCOME,
    RESOLUTION,
    RESOLUTIONS,
    RUN_ID,
    RUN_STREAK,
    SERVICE,
    SERVICE_VERSION,
    STATE,
    TARGET_INFO,
    TEMPLATE,
    TOOL,
    TRANSIENT,
)
from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from dashboards.classes import State

RANGE: Final = "$__range"
"""The dashboard's time range."""

STEP: Final = "$__interval"
"""The distance of two points of a graph, at least the shipped export interval."""

RATE_WINDOW: Final = "$__rate_interval"
RECENTLY: Final = "5m"

LIVE: Final = "3m"
"""How long the streak of a process that ended counts as live: three exports of those who export once a minute."""

NONE: Final = "(none)"
"""What a missing label is shown as."""

LEGEND_WIDTH: Final = 60
"""How many characters of a message a legend has room for."""

THRESHOLD_SAME: Final = STUCK

_SCOPE: Final = (f'{ENVIRONMENT}=~"$environment"', f'{SERVICE}=~"$service"', f'{NAMESPACE}=~"$owner"')
_FAILURE: Final = (f'{OUTCOME}!="{HANDLED}"',)


# Selectors.


def select(metric: str, *matchers: str) -> str:
    """Return the series of a metric."""
    return f"{metric}{{{', '.join(matchers)}}}" if matchers else metric


def scoped(metric: str, *matchers: str) -> str:
    """Return the series of a metric within the environment, service and owner that were chosen."""
    return select(metric, *_SCOPE, *matchers)


def chosen(name: str) -> str:
    """Return the matcher of a label by the variable that goes with it."""
    return f'{name}=~"${VARIABLES[name]}"'


VARIABLES: Final = {AGENT: "agent", TOOL: "tool", ERROR_TYPE: "error_type", CLASS: "class"}
"""The variables that select failures, by label."""


def occurrences(*matchers: str) -> str:
    """Return the counters of occurrences, handled ones too, that all variables select."""
    return scoped(ERRORS, *map(chosen, VARIABLES), *matchers)


def failures(*matchers: str) -> str:
    """Return the counters of failures that all variables select: what was handled is none."""
    return occurrences(*_FAILURE, *matchers)


# What the values of variables are looked up in.


def of_environment(metric: str) -> str:
    """Return the series of a metric in the environment that was chosen."""
    return select(metric, _SCOPE[0])


def without_class() -> str:
    """Return occurrences that all variables select but the class."""
    return scoped(ERRORS, *(chosen(name) for name in VARIABLES if name != CLASS))


# Parts of questions.


def grown(series: str, window: str = RANGE, at: str = "") -> str:
    """
    Return how much counters grew in a window, exactly.

    `increase()` is blind to a counter's first sample and guesses beyond the samples it has. The difference of two
    values is exact: the newest in the window, less the newest of the hour before it, or less nothing where the counter
    was born in the window. Only a counter that began again within the window is left to `increase()`. `at` is a
    modifier like ` @ end()`, where a graph asks for the same window at each of its points.

    The window is read four times, which takes 0.3 s of one core per million samples (measured with Prometheus 3.14).
    """
    newest = f"last_over_time({series}[{window}]{at})"
    before = f"last_over_time({series}[1h]{at} offset {window})"
    exact = f"((({newest} - {before}) >= 0) or {newest})"
    restarted = f"round(increase({series}[{window}]{at}))"
    return f"({exact} unless (resets({series}[{window}]{at}) > 0) or {restarted})"


def steps(series: str) -> str:
    """
    Return by how much counters grew since the step before, for bars over time: all bars together are the growth.

    A counter that was born or began again since the step before has grown by its whole value. The hour of looking back
    bridges a collector that was away, after which a counter would seem to be born again.
    """
    before = f"last_over_time({series}[1h] offset {STEP})"
    return f"((({series} - {before}) >= 0) or {series})"


def per_minute(series: str) -> str:
    """Return failures per minute of late."""
    return f"{grown(series, RECENTLY)} / 5"


def total(expression: str, *by: str) -> str:
    """Return a sum, by labels."""
    return f"sum by ({', '.join(by)}) ({expression})" if by else f"sum({expression})"


def named(expression: str, name: str) -> str:
    """Return an expression whose series without a label say so."""
    return f'label_replace({expression}, "{name}", "{NONE}", "{name}", "")'


def with_message(expression: str, series: str) -> str:
    """
    Return series of classes with the message of the class as a label, for legends: a bounded one, and a short key.

    Messages of two classes may be alike, so the first four characters of the key follow. A class without info keeps its
    whole key; `series` are those that the expression is made of.
    """
    kept = scoped(CLASS_INFO_KEPT, chosen(CLASS))
    info = f"topk by ({CLASS}) (1, max by ({CLASS}, {TEMPLATE}) ({kept} @ end())) ^ 0"
    joined = f'label_join({info}, "{MESSAGE}", " #", "{TEMPLATE}", "{CLASS}")'
    # RE2 lets a dot match the end of a line only with this flag.
    whole = f'label_replace({joined}, "{MESSAGE}", "$1", "{MESSAGE}", "(?s) ?(.*#.{{4}})[^#]*")'
    known = (
        f'label_replace({whole}, "{MESSAGE}", "$1…$2", "{MESSAGE}", "(?s)(.{{{LEGEND_WIDTH - 1}}}).{{2,}}( #.{{4}})")'
    )
    unknown = f'label_replace(group by ({CLASS}) ({series}), "{MESSAGE}", "$1", "{CLASS}", "(.*)")'
    return f"({expression}) * on ({CLASS}) group_left ({MESSAGE}) ({known} or on ({CLASS}) {unknown})"


def in_range(*by: str) -> str:
    """Return failures in the time range, by labels."""
    return f"{total(grown(failures()), *by)} > 0"


def most(expression: str, count: int = 10) -> str:
    """Return the greatest."""
    return f"topk({count}, {expression})"


def of_failing(expression: str) -> str:
    """Return what belongs to classes that all variables select, of metrics that lack some of their labels."""
    return f"({expression} and on ({CLASS}) last_over_time({failures()}[{RANGE}]))"


# Failures in the time range, as numbers.


def failures_in_range() -> str:
    """All failures."""
    return total(grown(failures()))


def classes_in_range() -> str:
    """How many classes failed; `other` is none."""
    named_ones = failures(f'{CLASS}!="{semconv.OTHER}"')
    return f"count({total(grown(named_ones), CLASS)} > 0)"


def classes_over_threshold() -> str:
    """How many classes fail again and again right now."""
    return f"count(max by ({CLASS}) (last_over_time({_streaks()}[{LIVE}])) >= {THRESHOLD_SAME})"


def escalations_in_range() -> str:
    """Thresholds that were reached."""
    return total(grown(_escalations()))


def failures_per_minute() -> str:
    """Failures per minute of late."""
    return total(per_minute(failures()))


def resolution_rate() -> str:
    """Of the classes that failed in a run, how many were resolved in it."""
    return f"clamp(({resolutions_in_range()} or vector(0)) / {total(grown(_first_of_run()))}, 0, 1)"


# Over time.


def top_classes() -> str:
    """The ten classes that failed most in the whole time range, over time."""
    greatest = most(total(grown(failures(), at=" @ end()"), CLASS))
    over_time = f"({total(steps(failures()), CLASS, ERROR_TYPE)} > 0) and on ({CLASS}) {greatest}"
    return with_message(over_time, failures())


def outcomes() -> str:
    """Occurrences by outcome, handled ones too."""
    return _as_outcomes(f"{total(steps(occurrences()), OUTCOME)} > 0")


def lasting() -> str:
    """Transient classes of the last hour, by how long they have failed without a long pause, in seconds."""
    since = f"time() - {scoped(CLASS_FAILING_SINCE)} and {ON} ({scoped(CLASS_LAST_SEEN)} > time() - 3600)"
    said = scoped(CLASS_INFO_KEPT, f'{TRANSIENT}="true"')
    return f"topk(20, ({since}) * {ON} group_left ({TEMPLATE}) ({said} ^ 0))"


def streaks_by_operation() -> str:
    """The longest live streak by agent, tool and class."""
    live = f"last_over_time({_streaks()}[{LIVE}])"
    return with_message(f"max by ({AGENT}, {TOOL}, {CLASS}) ({live}) > 0", live)


def began() -> str:
    """Classes that began to fail in runs, over time."""
    return total(steps(_first_of_run()))


def resolutions() -> str:
    """Classes that were resolved in runs, over time."""
    return total(of_failing(steps(_resolutions())))


def taken_back() -> str:
    """Resolutions that proved to be none, over time."""
    return total(of_failing(steps(_resolutions(taken_back=True))))


# By label.


def failures_by(name: str) -> str:
    """Failures by a label, the most first."""
    return most(named(in_range(name), name))


def handled_by(name: str) -> str:
    """Failures inside calls that succeeded after all, by a label."""
    return most(named(f"{total(grown(_handled()), name)} > 0", name))


def failures_by_member() -> str:
    """Failed tests and other members of outputs, the most first."""
    return most(f"{total(grown(scoped(MEMBERS, chosen(TOOL))), MEMBER)} > 0")


# One class.


def meaning_of_class() -> str:
    """What the classes that were chosen mean, in which services, and whose these are."""
    shown = (
        CLASS,
        STATE,
        SERVICE_VERSION,
        ERROR_TYPE,
        TEMPLATE,
        LOCATION,
        TOOL,
        AGENT,
        SERVICE,
        ENVIRONMENT,
        NAMESPACE,
    )
    return f"topk(20, max by ({', '.join(shown)}) ({scoped(CLASS_ROW, chosen(CLASS))}))"


def hint_of_class() -> str:
    """What the library advises about the classes that were chosen."""
    hinted = scoped(CLASS_INFO_KEPT, chosen(CLASS), f'{HINT}!=""')
    return f"topk(5, max by ({CLASS}, {HINT}, {TRANSIENT}) ({hinted}))"


def outcomes_in_range() -> str:
    """Occurrences by outcome, handled ones too."""
    return _as_outcomes(f"{total(grown(occurrences()), OUTCOME)} > 0")


def runs_hit() -> str:
    """In how many runs a class failed: only the first failure of a class in a run is `new`."""
    return total(grown(_first_of_run()))


def resolutions_in_range() -> str:
    """Classes that were resolved in runs, less those whose resolution was taken back."""
    taken = total(of_failing(grown(_resolutions(taken_back=True))))
    return f"({total(of_failing(grown(_resolutions())))} - ({taken} or vector(0)))"


def longest_streak() -> str:
    """The longest streak in the time range."""
    return f"max(max_over_time({_streaks()}[{RANGE}]))"


def first_failure() -> str:
    """When the classes that were chosen first failed, in milliseconds."""
    return f"1000 * min({scoped(CLASS_FIRST_SEEN, chosen(CLASS))})"


def failing_since() -> str:
    """Since when they fail without a long pause, in milliseconds."""
    return f"1000 * min({scoped(CLASS_FAILING_SINCE, chosen(CLASS))})"


def last_failure() -> str:
    """When the classes that were chosen last failed, in milliseconds."""
    return f"1000 * max({scoped(CLASS_LAST_SEEN, chosen(CLASS))})"


# Annotations; Prometheus is asked once a minute for them.


def alerts_began() -> str:
    """
    Our critical alerts that began to fire within the minute, one for all services.

    An alert while it fires would be a region, and regions of several hide the graphs during an incident.
    """
    firing = f'{ALERTS}{{alertname=~"Agent.+", alertstate="firing", severity="critical"}}'
    return f"group by (alertname) ({firing}) unless group by (alertname) (last_over_time({firing}[5m] offset 1m))"


def of_alerts() -> str:
    """Return the matchers of the alerts of the environment and service that were chosen."""
    # This list joins several values with braces and commas unless the format is named.
    return f'{{{ENVIRONMENT}=~"${{environment:regex}}", {SERVICE}=~"${{service:regex}}"}}'


def began_to_be(*states: State) -> str:
    """Classes that are in one of these states, and were not a minute ago."""
    series = scoped(CLASS_STATE, f'{STATE}=~"{"|".join(each.name for each in states)}"')
    by = f"group by ({SERVICE}, {CLASS}, {STATE})"
    return f"{by} ({series}) unless {by} (last_over_time({series}[15m] offset 1m))"


def deployed() -> str:
    """Services whose version was not there a minute ago, although the service was."""
    running = select(TARGET_INFO, _SCOPE[0], f'{SERVICE_VERSION}!=""', 'job=~"(.*/)?($service)"')
    by = f"group by (job, {SERVICE_VERSION})"
    since = f"{by} ({running}) unless {by} (last_over_time({running}[1h] offset 1m))"
    return f"({since}) and on (job) group by (job) (last_over_time({running}[1h] offset 1m))"


# TraceQL. A regular expression there matches the whole value.


def traces_of(key: str = "$class", *matchers: str) -> str:
    """Spans that hold a failure of a class, with what failed."""
    # Where failures are sent as log records the span has no event, but the class itself; so has a run that escalated,
    # which has failed only if its status says so.
    held = f'(event.{semconv.CLASS} =~ "{key}" || (span.{semconv.CLASS} =~ "{key}" && status = error))'
    where = " && ".join((held, *matchers))
    # What a tool gave back as text stands in the stack trace.
    events = (semconv.EXCEPTION_TYPE, semconv.EXCEPTION_MESSAGE, semconv.EXCEPTION_STACKTRACE)
    spans = (semconv.GEN_AI_TOOL_NAME, semconv.GEN_AI_AGENT_NAME, semconv.GEN_AI_CONVERSATION_ID)
    shown = [f"event.{name}" for name in events] + ["statusMessage"] + [f"span.{name}" for name in spans]
    return f"{{ {where} }} | select({', '.join(shown)})"


def traces_of_class() -> str:
    """Spans that hold a failure of the classes and services that were chosen."""
    # Tempo's data source joins what was chosen as it is: with `regex` and in backquotes "a+b (eu)" finds itself.
    return traces_of("$class", "resource.service.name =~ `${service:regex}`")


def traces_of_run() -> str:
    """Spans of a run, by a part of its id, whatever calls it so; of all runs while there is none."""
    names = (semconv.GEN_AI_CONVERSATION_ID, semconv.SESSION_ID, semconv.RUN_ID)
    return f"{{ {' || '.join(f'span.{name} =~ `.*${{run:regex}}.*`' for name in names)} }}"


# LogQL. What arrives by OTLP keeps its attributes beside the line.


def records_of(key: str = "$class", *matchers: str) -> str:
    """Log records about a class: failures where they are sent as records, and escalations."""
    # Loki refuses a selector that might match the empty string, as one of a variable might.
    selector = ", ".join((f'{SERVICE}=~".+"', *matchers))
    return f'{{{selector}}} | {CLASS}=~"{key}" | {CLASS}!=""'


def records_of_class() -> str:
    """Log records about the classes and services that were chosen."""
    return records_of("$class", f'{SERVICE}=~"$service"')


def records_of_run() -> str:
    """Log records about a run, by a part of its id; about all runs while there is none."""
    # In backquotes: `regex` escapes by a backslash, and in quotes that is an error of syntax.
    return f'{{{SERVICE}=~".+"}} | {RUN_ID}=~`.*${{run:regex}}.*` | {RUN_ID}!=""'


# Parts that only this module puts together.


def _as_outcomes(expression: str) -> str:
    # `new` is a state of a class; of an occurrence it says that its run had not met the class before.
    return f'label_replace({expression}, "{OUTCOME}", "first in its run", "{OUTCOME}", "{NEW}")'


def _first_of_run() -> str:
    return occurrences(f'{OUTCOME}="{NEW}"')


def _handled() -> str:
    return occurrences(f'{OUTCOME}="{HANDLED}"')


def _escalations() -> str:
    return scoped(ESCALATIONS, chosen(AGENT), chosen(CLASS))


def _resolutions(*, taken_back: bool = False) -> str:
    operator = "=" if taken_back else "!="
    return scoped(RESOLUTIONS, f'{RESOLUTION}{operator}"{semconv.TAKEN_BACK}"', chosen(TOOL), chosen(CLASS))


def _streaks() -> str:
    return scoped(RUN_STREAK, chosen(AGENT), chosen(TOOL), chosen(CLASS))
