"""
What the dashboards ask: PromQL, TraceQL and LogQL as text, and nothing about how an answer looks.

A counter of the library is born with its first occurrence, so `increase()` misses the first burst of a class, and a
process that has ended leaves no instant value; `grown()` is exact for both. Every window is at least three minutes
wide, since an exporter may push only once a minute.
"""

from __future__ import annotations

from typing import Final

from dashboards.metrics import (
    AGENT,
    ALERTS,
    BACK_AGAIN,
    CLASS,
    CLASS_INFO,
    ENVIRONMENT,
    ERROR_TYPE,
    ERRORS,
    ESCALATIONS,
    HANDLED,
    LOCATION,
    MEMBER,
    MEMBERS,
    MESSAGE,
    NEW,
    NEW_IN_VERSION,
    OUTCOME,
    RESOLUTION,
    RESOLUTIONS,
    RUN_ID,
    SERVICE,
    SERVICE_VERSION,
    STREAK,
    TARGET_INFO,
    TEMPLATE,
    TOOL,
)
from otel_errcompact.otel import semconv

RANGE: Final = "$__range"
"""The dashboard's time range."""

STEP: Final = "$__interval"
"""The distance of two points of a graph, at least the shipped export interval."""

RATE_WINDOW: Final = "$__rate_interval"
RECENTLY: Final = "5m"

LIVE: Final = "3m"
"""How long the streak of a process that ended counts as live: three exports of those who export once a minute."""

BEFORE: Final = "1d"
"""How far before the time range a class must not have failed to be called new."""

COARSE_STEP: Final = "5m"
FINE_STEP: Final = "1m"
"""
How exactly first and last seen are known: to the minute within the last hour, to five minutes before it.

Five minutes are how long a series is visible after its last sample, so no process is too short-lived to be seen.
"""

ROW: Final = "row"
"""What the columns of a table are joined by."""

NONE: Final = "(none)"
"""What a missing label is shown as."""

LEGEND_WIDTH: Final = 60
"""How many characters of a message a legend has room for."""

THRESHOLD_SAME: Final = 3
"""The library's default for occurrences of one class in a row."""

_SCOPE: Final = (f'{ENVIRONMENT}=~"$environment"', f'{SERVICE}=~"$service"')
_FAILURE: Final = (f'{OUTCOME}!="{HANDLED}"',)


# Selectors.


def select(metric: str, *matchers: str) -> str:
    """Return the series of a metric."""
    return f"{metric}{{{', '.join(matchers)}}}" if matchers else metric


def scoped(metric: str, *matchers: str) -> str:
    """Return the series of a metric within the environment and service that were chosen."""
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


def everything() -> str:
    """Return all occurrences."""
    return ERRORS


def of_environment() -> str:
    """Return occurrences in the environment that was chosen."""
    return select(ERRORS, _SCOPE[0])


def of_service() -> str:
    """Return occurrences in the service that was chosen."""
    return scoped(ERRORS)


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


def as_row(expression: str) -> str:
    """Return series of classes and services with a label for the two, which is there without a class as well."""
    return f'label_join({expression}, "{ROW}", "/", "{CLASS}", "{SERVICE}")'


def by_row(expression: str) -> str:
    """
    Return values of a class and service under the label by which the columns of a table are joined.

    Only of those that fail in the time range: where the table has no row, a column alone would be shown in its place.
    """
    failing = f"{total(grown(failures(), at=' @ end()'), CLASS, SERVICE)} > 0"
    return f"(max by ({ROW}) ({as_row(expression)}) and on ({ROW}) {as_row(failing)})"


def with_message(expression: str, series: str) -> str:
    """
    Return series of classes with the message of the class as a label, for legends: a bounded one, and a short key.

    Messages of two classes may be alike, so the first four characters of the key follow. A class without info keeps its
    whole key; `series` are those that the expression is made of.
    """
    info = f"topk by ({CLASS}) (1, last_over_time({scoped(CLASS_INFO, chosen(CLASS))}[{RANGE}] @ end()))"
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
    """How many classes failed."""
    return f"count({in_range(CLASS)})"


def classes_over_threshold() -> str:
    """How many classes fail again and again right now."""
    return f"count({streaks()} >= {THRESHOLD_SAME})"


def escalations_in_range() -> str:
    """Thresholds that were reached."""
    return total(grown(_escalations()))


def failures_per_minute() -> str:
    """Failures per minute of late."""
    return total(per_minute(failures()))


def resolution_rate() -> str:
    """Of the classes that failed in a run, how many were resolved in it."""
    return f"clamp(({resolutions_in_range()} or vector(0)) / {total(grown(_first_of_run()))}, 0, 1)"


# The table of classes.


def class_rows() -> str:
    """
    One row per class and service: failures, with where they come from most, and what the class key means.

    A class without info (`other`, or counted by the collector) keeps its row: it meets a stand-in without labels.
    """
    place = (CLASS, SERVICE)
    most_hit = f"topk by ({', '.join(place)}) (1, {total(grown(failures()), *place, ERROR_TYPE, TOOL, AGENT)}) ^ 0"
    hits = f"({in_range(*place)}) * on ({', '.join(place)}) group_left ({ERROR_TYPE}, {TOOL}, {AGENT}) ({most_hit})"
    return as_row(f"({hits}) * on ({CLASS}) group_left ({TEMPLATE}, {LOCATION}) ({_meaning()})")


def first_seen() -> str:
    """
    When each class and service first failed, in the time range or in the day before it, in milliseconds.

    A counter is born with the first failure of its class, so its first sample is what is looked for.
    """
    earlier = _earliest(f"[{BEFORE}:{COARSE_STEP}] offset {RANGE}")
    within = _earliest(f"[{RANGE}:{COARSE_STEP}]")
    of_late = _earliest(f"[1h:{FINE_STEP}]")
    this_minute = f"min by ({CLASS}, {SERVICE}) (timestamp({failures()}))"
    return by_row(f"1000 * ({earlier} or ({of_late} < {within}) or {within} or {of_late} or {this_minute})")


def last_seen() -> str:
    """When each class and service last failed, in milliseconds."""
    return by_row(f"1000 * {last_failed()}")


def last_failed() -> str:
    """When each class and service last failed, in seconds: when a counter last grew, or was born."""
    this_minute = f"max by ({CLASS}, {SERVICE}) ({_grew(FINE_STEP)})"
    of_late = _latest(FINE_STEP, f"[1h:{FINE_STEP}]")
    within = _latest(COARSE_STEP, f"[{RANGE}:{COARSE_STEP}]")
    return f"({this_minute} or {of_late} or {within})"


def trend() -> str:
    """Failures of each class and service over time."""
    return by_row(f"{total(steps(failures()), CLASS, SERVICE)}")


# Over time.


def top_classes() -> str:
    """The ten classes that failed most in the whole time range, over time."""
    greatest = most(total(grown(failures(), at=" @ end()"), CLASS))
    over_time = f"({total(steps(failures()), CLASS, ERROR_TYPE)} > 0) and on ({CLASS}) {greatest}"
    return with_message(over_time, failures())


def outcomes() -> str:
    """Occurrences by outcome, handled ones too."""
    return f"{total(steps(occurrences()), OUTCOME)} > 0"


def streaks() -> str:
    """The longest live streak of each class."""
    return f"max by ({CLASS}) (last_over_time({_streaks()}[{LIVE}])) > 0"


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
    """What the keys of the classes that were chosen mean."""
    shown = f"{CLASS}, {ERROR_TYPE}, {TEMPLATE}, {LOCATION}, {SERVICE}"
    return of_failing(f"topk by ({CLASS}) (1, max by ({shown}) (last_over_time({_info()}[{RANGE}])))")


def outcomes_in_range() -> str:
    """Occurrences by outcome, handled ones too."""
    return f"{total(grown(occurrences()), OUTCOME)} > 0"


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
    """When the classes that were chosen first failed."""
    return f"min({first_seen()})"


def last_failure() -> str:
    """When the classes that were chosen last failed."""
    return f"max({last_seen()})"


# Annotations; Prometheus is asked once a minute for them.


def class_began() -> str:
    """Classes that were not there a minute ago."""
    by = f"group by ({CLASS}, {ERROR_TYPE})"
    return f"{by} ({failures()}) unless {by} (last_over_time({failures()}[1h] offset 1m))"


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


def regressed() -> str:
    """Classes that came back, or are new in a version, and were neither a minute ago."""
    wanted = (("back again", BACK_AGAIN), ("new in a version", NEW_IN_VERSION))
    return " or ".join(_began_to_be(name, recorded) for name, recorded in wanted)


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


def _earliest(steps_of: str) -> str:
    return f"min by ({CLASS}, {SERVICE}) (min_over_time(timestamp({failures()}){steps_of}))"


def _latest(step: str, steps_of: str) -> str:
    return f"max by ({CLASS}, {SERVICE}) (max_over_time(({_grew(step)}){steps_of}))"


def _grew(step: str) -> str:
    return f"timestamp({failures()}) unless ({failures()} == {failures()} offset {step})"


def _began_to_be(name: str, recorded: str) -> str:
    series = select(recorded, *_SCOPE, chosen(CLASS))
    by = f"group by ({SERVICE}, {CLASS}, {ERROR_TYPE})"
    since = f"{by} ({series}) unless {by} (last_over_time({series}[15m] offset 1m))"
    return f'label_replace({since}, "change", "{name}", "", "")'


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
    return scoped(STREAK, chosen(AGENT), chosen(TOOL), chosen(CLASS))


def _info() -> str:
    return scoped(CLASS_INFO, chosen(ERROR_TYPE), chosen(CLASS))


def _meaning() -> str:
    """
    A series of value 1 for each class, with what its key means where that is known.

    A class has one such series per process, and one per line it was raised from: any of them will do.
    """
    info = f"topk by ({CLASS}) (1, last_over_time({_info()}[{RANGE}]))"
    return f"{info} or on ({CLASS}) group by ({CLASS}) (last_over_time({failures()}[{RANGE}]))"
