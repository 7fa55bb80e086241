"""
How an answer is drawn: thin builders, so that one panel is one small function.

What a panel means is part of every call: without a description it is finished only for the one who wrote it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from grafana_foundation_sdk.builders import common as options
from grafana_foundation_sdk.builders import dashboard, loki, tempo
from grafana_foundation_sdk.builders.bargauge import Panel as BarGauge
from grafana_foundation_sdk.builders.dashboard import Panel as AnyPanel
from grafana_foundation_sdk.builders.logs import Panel as Logs
from grafana_foundation_sdk.builders.stat import Panel as Stat
from grafana_foundation_sdk.builders.table import Panel as Table
from grafana_foundation_sdk.builders.text import Panel as Text
from grafana_foundation_sdk.builders.timeseries import Panel as TimeSeries
from grafana_foundation_sdk.models import common
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models.text import TextMode

from dashboards.colours import BAD, NEUTRAL, OK, WARNING
from dashboards.targets import Target, instant, legend
from dashboards.variables import LOKI, PROMETHEUS, TEMPO
from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from grafana_foundation_sdk.cog.builder import Builder

    from dashboards.links import Link
    from dashboards.variables import Variable

WIDTH: Final = 24
"""Columns of Grafana's grid."""

MIN_INTERVAL: Final = "10s"
"""How often the library exports as shipped: between two exports there is nothing to draw."""

TAG: Final = "errcompact"

COUNT: Final = "locale"
"""The unit of counts: `1,563`. With `short` and no decimals Grafana shows `2 K`."""

Override = tuple[str, dict[str, Any]]
"""The name of a field (or `/a pattern/`), and the properties it gets."""

Steps = tuple[tuple[float | None, str], ...]
"""From which value on which colour; the first value is None."""

NONE_BAD: Final[Steps] = ((None, OK), (1, BAD))
NONE_WARNING: Final[Steps] = ((None, OK), (1, WARNING))
"""For what should not happen at all."""


class Caption(NamedTuple):
    """What a panel is about."""

    id: int
    """Fixed by hand: links and alerts refer to it."""
    title: str
    description: str
    unit: str = COUNT
    empty: str = "None"
    """What the panel says when there is nothing to show, and what that means."""


class Line(NamedTuple):
    """Panels side by side, as wide as the page together."""

    height: int
    panels: tuple[tuple[int, Builder[models.Panel]], ...]
    """Each with its width."""


class Section(NamedTuple):
    """A row with a title that can be folded away; without a title, the panels alone."""

    id: int
    title: str
    lines: tuple[Line, ...]
    collapsed: bool = False


class Page(NamedTuple):
    """A dashboard."""

    uid: str
    title: str
    description: str
    variables: tuple[Variable, ...]
    sections: tuple[Section, ...]
    annotations: tuple[dashboard.AnnotationQuery, ...] = ()
    since: str = "now-6h"
    """Where its time range begins at first."""


# Panels.


def stat(
    caption: Caption,
    *targets: Target,
    steps: Steps = ((None, NEUTRAL),),
    links: Iterable[Link] = (),
    decimals: int | None = 0,
    overrides: Iterable[Override] = (),
    named: bool = False,
) -> Stat:
    """Show one number, or several with their names."""
    panel = (
        _about(Stat(), caption, targets, links)
        .thresholds(thresholds(steps))
        .color_mode(common.BigValueColorMode.VALUE)
        .graph_mode(common.BigValueGraphMode.NONE)
        .reduce_options(options.ReduceDataOptions().calcs(["lastNotNull"]).values(values=False))
        .decimals(decimals)
    )
    if named:
        panel.text_mode(common.BigValueTextMode.VALUE_AND_NAME)
        # Grafana makes the names as small as the longest of them needs.
        panel.text(options.VizTextDisplayOptions().title_size(11).value_size(20))
    for override in overrides:
        _override(panel, override)
    return panel


def timeseries(
    caption: Caption,
    *targets: Target,
    stacked: bool = False,
    threshold: float | None = None,
    colours: dict[str, str] | None = None,
    links: Iterable[Link] = (),
    calcs: Sequence[str] = ("lastNotNull", "max"),
) -> TimeSeries:
    """Draw values over time, with a table of them as the legend."""
    panel = (
        _graph(caption, targets, stacked=stacked, colours=colours, links=links, calcs=calcs)
        .fill_opacity(10)
        .show_points(common.VisibilityMode.AUTO)
        .draw_style(common.GraphDrawStyle.LINE)
    )
    if threshold is not None:
        panel.thresholds(thresholds(((None, "transparent"), (threshold, BAD))))
        panel.thresholds_style(options.GraphThresholdsStyleConfig().mode(common.GraphThresholdsStyleMode.DASHED))
    return panel


def bars(
    caption: Caption,
    *targets: Target,
    stacked: bool = True,
    colours: dict[str, str] | None = None,
    links: Iterable[Link] = (),
    calcs: Sequence[str] = ("sum",),
) -> TimeSeries:
    """Draw what each interval has added, with the sums as the legend."""
    return (
        _graph(caption, targets, stacked=stacked, colours=colours, links=links, calcs=calcs)
        .fill_opacity(60)
        .show_points(common.VisibilityMode.NEVER)
        .draw_style(common.GraphDrawStyle.BARS)
    )


def _graph(
    caption: Caption,
    targets: Iterable[Target],
    *,
    stacked: bool,
    colours: dict[str, str] | None,
    links: Iterable[Link],
    calcs: Sequence[str],
) -> TimeSeries:
    panel = (
        _about(TimeSeries(), caption, targets, links)
        .legend(_legend(calcs))
        .tooltip(options.VizTooltipOptions().mode(common.TooltipDisplayMode.MULTI).sort(common.SortOrder.DESCENDING))
        .line_width(1)
        .axis_soft_min(0)
        .color_scheme(_palette_by_name())
    )
    if stacked:
        panel.stacking(options.StackingConfig().mode(common.StackingMode.NORMAL).group("A"))
    for name, colour in (colours or {}).items():
        _override(panel, (name, fixed_colour(colour)))
    return panel


def table(
    caption: Caption,
    *targets: Target,
    transformations: Iterable[models.DataTransformerConfig] = (),
    overrides: Iterable[Override] = (),
    links: Iterable[Link] = (),
    sort_by: str | None = None,
) -> Table:
    """List rows, the greatest first."""
    panel = _table(caption, targets, links).filterable(filterable=True)
    for transformation in transformations:
        panel.with_transformation(transformation)
    for override in overrides:
        _override(panel, override)
    if sort_by is not None:
        panel.sort_by([options.TableSortByFieldState().display_name(sort_by).desc(desc=True)])
    return panel


def bar_gauge(
    caption: Caption,
    expr: str,
    label: str,
    *,
    colours: dict[str, str] | None = None,
    links: Iterable[Link] = (),
    overrides: Iterable[Override] = (),
) -> BarGauge:
    """
    Compare values as bars, each with the value of its label.

    A single bar would have no name of its own and the height of the panel.
    """
    panel = (
        _about(BarGauge(), caption, (instant(expr, legend(label)),), links)
        .display_name(f"${{__field.labels.{label}}}")
        .sizing(common.BarGaugeSizing.MANUAL)
        .min_viz_height(8)
        .max_viz_height(24)
        .orientation(common.VizOrientation.HORIZONTAL)
        .display_mode(common.BarGaugeDisplayMode.BASIC)
        .value_mode(common.BarGaugeValueMode.TEXT)
        .show_unfilled(show_unfilled=False)
        .min(0)
        .reduce_options(options.ReduceDataOptions().calcs(["lastNotNull"]).values(values=False))
        .color_scheme(_palette_by_name())
    )
    for name, colour in (colours or {}).items():
        _override(panel, (name, fixed_colour(colour)))
    for override in overrides:
        _override(panel, override)
    return panel


def logs(caption: Caption, target: loki.Dataquery, *, links: Iterable[Link] = ()) -> Logs:
    """List log records, the newest first."""
    return (
        _about(Logs(), caption, (target,), links)
        .datasource(LOKI)
        .show_time(show_time=True)
        .wrap_log_message(wrap_log_message=True)
        .enable_log_details(enable_log_details=True)
        .sort_order(common.LogsSortOrder.DESCENDING)
        .dedup_strategy(common.LogsDedupStrategy.NONE)
    )


def traces(caption: Caption, target: tempo.Dataquery, *, links: Iterable[Link] = ()) -> Table:
    """List traces or spans; their ids lead to the trace."""
    panel = _table(caption, (target,), links).datasource(TEMPO)
    # Of equal columns a message would be cut after two words; the whole stack trace is in the span.
    _override(panel, (semconv.EXCEPTION_MESSAGE, {"custom.width": 380, "custom.inspect": True}))
    _override(
        panel, (f"/^({semconv.EXCEPTION_STACKTRACE}|{semconv.EXCEPTION_TYPE}|{semconv.CLASS})$/", {"custom.width": 150})
    )
    return panel


def text(caption: Caption, markdown: str) -> Text:
    """Show text, which has neither data nor a unit."""
    panel = Text().id(caption.id).title(caption.title).description(caption.description)
    return panel.mode(TextMode.MARKDOWN).content(markdown)


def alert_list(caption: Caption, name_contains: str, labels: str = "") -> AnyPanel:
    """List the alerts that are pending or firing, by name: a filter by folder would hide those of Prometheus itself."""
    panel = AnyPanel().type("alertlist").id(caption.id).title(caption.title).description(caption.description)
    return panel.no_value(caption.empty).options(
        {
            "alertInstanceLabelFilter": labels,
            "alertName": name_contains,
            "dashboardAlerts": False,
            "groupBy": [],
            "groupMode": "default",
            "maxItems": 20,
            "sortOrder": 1,
            "stateFilter": {"error": True, "firing": True, "noData": False, "normal": False, "pending": True},
            "viewMode": "list",
        }
    )


def events(name: str, expr: str, colour: str, *, title: str, text: str = "") -> dashboard.AnnotationQuery:
    """Mark on all graphs when something happened."""
    annotation = dashboard.AnnotationQuery().name(name).datasource(PROMETHEUS).enable(enable=True)
    return annotation.icon_color(colour).expr(expr).step("60s").title_format(title).text_format(text)


# Properties of fields, for overrides.


def fixed_colour(colour: str) -> dict[str, Any]:
    """Give a field one colour."""
    return {"color": {"mode": "fixed", "fixedColor": colour}}


def thresholds(steps: Steps) -> dashboard.ThresholdsConfig:
    """Colour values by what they reach."""
    return (
        dashboard.ThresholdsConfig()
        .mode(models.ThresholdsMode.ABSOLUTE)
        .steps([models.Threshold(value, colour) for value, colour in steps])
    )


def cell(**properties: Any) -> dict[str, Any]:
    """Say how the cells of a column are drawn."""
    return {"custom.cellOptions": properties}


def number() -> dict[str, Any]:
    """Show a column as counts, 0 where a row has none."""
    return {"unit": COUNT, "noValue": "0"}


# Transformations of tables.


# Pages.


def build(page: Page) -> models.Dashboard:
    """Lay a page out."""
    board = (
        dashboard.Dashboard(page.title)
        .uid(page.uid)
        .description(page.description)
        .tags([TAG])
        .readonly()
        .time(page.since, "now")
        .refresh("30s")
        .tooltip(models.DashboardCursorSync.CROSSHAIR)
        .variables(list(page.variables))
        .annotations(list(page.annotations))
        .link(_to_all_dashboards())
    )
    top = 0
    for section in page.sections:
        top = _place(board, section, top)
    return _without_strangers(board.build())


def _without_strangers(board: models.Dashboard) -> models.Dashboard:
    """Leave out what the SDK writes of itself, and Grafana's own types do not know."""
    for panel in board.panels or ():
        for each in panel.panels if isinstance(panel, models.RowPanel) else (panel,):
            if each.type_val == "table":
                each.options.footer = None
    for variable in (board.templating and board.templating.list_val) or ():
        variable.auto = variable.auto_min = variable.auto_count = None
    return board


def _place(board: dashboard.Dashboard, section: Section, top: int) -> int:
    row = dashboard.Row(section.title).id(section.id).collapsed(section.collapsed)
    row.grid_pos(models.GridPos(h=1, w=WIDTH, x=0, y=top))
    top += bool(section.title)
    placed: list[Builder[models.Panel]] = []
    for line in section.lines:
        if (width := sum(width for width, _ in line.panels)) != WIDTH:
            raise ValueError(
                f"the panels of a line in {section.title!r} are {width} columns wide together, not {WIDTH}"
            )
        left = 0
        for width, panel in line.panels:
            placed.append(panel.grid_pos(models.GridPos(h=line.height, w=width, x=left, y=top)))
            left += width
        top += line.height
    if section.collapsed:
        for panel in placed:
            row.with_panel(panel)
    if section.title:
        board.with_row(row)
    if not section.collapsed:
        for panel in placed:
            board.with_panel(panel)
    return top


def _table(caption: Caption, targets: Iterable[Target], links: Iterable[Link]) -> Table:
    panel = _about(Table(), caption, targets, links).show_header(show_header=True)
    # What an empty table says would stand in every empty cell too.
    panel.override_by_regexp(".*", [models.DynamicConfigValue("noValue", "")])
    # Grafana's types ask for it.
    return panel.cell_options(common.TableAutoCellOptions())


def _about(panel: Any, caption: Caption, targets: Iterable[Target], links: Iterable[Link]) -> Any:
    panel.id(caption.id).title(caption.title).description(caption.description).unit(caption.unit)
    panel.no_value(caption.empty).datasource(PROMETHEUS).interval(MIN_INTERVAL)
    for target in targets:
        panel.with_target(target)
    if links := list(links):
        panel.data_links(links)
    return panel


def _override(panel: Any, override: Override) -> None:
    name, properties = override
    values = [models.DynamicConfigValue(key, value) for key, value in properties.items()]
    if name.startswith("/"):
        panel.override_by_regexp(name, values)
    else:
        panel.override_by_name(name, values)


def _legend(calcs: Sequence[str]) -> options.VizLegendOptions:
    return (
        options.VizLegendOptions()
        .show_legend(show_legend=True)
        .display_mode(common.LegendDisplayMode.TABLE)
        .placement(common.LegendPlacement.BOTTOM)
        .calcs(list(calcs))
        .sort_by({"lastNotNull": "Last *", "max": "Max", "sum": "Total"}[calcs[-1]])
        .sort_desc(sort_desc=True)
    )


def _palette_by_name() -> dashboard.FieldColor:
    # By name, so that a class keeps its colour while others come and go.
    return dashboard.FieldColor().mode(models.FieldColorModeId.PALETTE_CLASSIC_BY_NAME)


def _to_all_dashboards() -> dashboard.DashboardLink:
    to_all = (
        dashboard.DashboardLink("Agent errors")
        .type(models.DashboardLinkType.DASHBOARDS)
        .tags([TAG])
        .as_dropdown(as_dropdown=True)
        .include_vars(include_vars=True)
        .keep_time(keep_time=True)
    )
    to_all._internal.placement = None  # noqa: SLF001 - the SDK's default moves the links to another menu
    return to_all
