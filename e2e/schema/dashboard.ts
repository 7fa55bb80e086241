// What the generated dashboards must be: Grafana's own types of a classic dashboard, and of the options of each kind
// of panel that we use. Its types name the values of string enumerations by members (`LegendPlacement.Right`), which no
// JSON can hold; `Json` puts the values themselves in their place and keeps everything else as it is.
import type * as common from '@grafana/schema';
import type * as barGauge from '@grafana/schema/dist/esm/raw/composable/bargauge/panelcfg/x/BarGaugePanelCfg_types.gen';
import type * as heatmap from '@grafana/schema/dist/esm/raw/composable/heatmap/panelcfg/x/HeatmapPanelCfg_types.gen';
import type * as logs from '@grafana/schema/dist/esm/raw/composable/logs/panelcfg/x/LogsPanelCfg_types.gen';
import type * as pieChart from '@grafana/schema/dist/esm/raw/composable/piechart/panelcfg/x/PieChartPanelCfg_types.gen';
import type * as stat from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
import type * as stateTimeline from '@grafana/schema/dist/esm/raw/composable/statetimeline/panelcfg/x/StateTimelinePanelCfg_types.gen';
import type * as table from '@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen';
import type * as text from '@grafana/schema/dist/esm/raw/composable/text/panelcfg/x/TextPanelCfg_types.gen';
import type * as timeSeries from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';
import type * as raw from '@grafana/schema/dist/esm/raw/dashboard/x/Dashboard_types.gen';

type IsAny<T> = 0 extends 1 & T ? true : false;
type Json<T> = IsAny<T> extends true
  ? T
  : T extends string
    ? `${T}`
    : T extends object
      ? { [K in keyof T]: Json<T[K]> }
      : T;

interface Target {
  refId: string;
  datasource: common.DataSourceRef;
  [field: string]: unknown;
}

type Field<Custom> = Omit<Json<raw.FieldConfig>, 'custom'> & { custom?: Json<Custom> };

type PanelOf<Kind extends string, Options, Custom> = Omit<
  Json<raw.Panel>,
  'type' | 'options' | 'fieldConfig' | 'targets'
> & {
  type: Kind;
  options?: Json<Options>;
  targets?: Target[];
  fieldConfig?: Omit<Json<raw.FieldConfigSource>, 'defaults'> & { defaults: Field<Custom> };
};

// The list of alerts comes with no types of its own.
interface AlertListOptions {
  [option: string]: unknown;
}

type Panel =
  | PanelOf<'alertlist', AlertListOptions, Record<string, never>>
  | PanelOf<'bargauge', barGauge.Options, Record<string, never>>
  | PanelOf<'heatmap', heatmap.Options, heatmap.FieldConfig>
  | PanelOf<'logs', logs.Options, Record<string, never>>
  | PanelOf<'piechart', pieChart.Options, pieChart.FieldConfig>
  | PanelOf<'stat', stat.Options, Record<string, never>>
  | PanelOf<'state-timeline', stateTimeline.Options, stateTimeline.FieldConfig>
  | PanelOf<'table', table.Options, table.FieldConfig>
  | PanelOf<'text', text.Options, Record<string, never>>
  | PanelOf<'timeseries', timeSeries.Options, timeSeries.FieldConfig>;

type Row = Omit<Json<raw.RowPanel>, 'panels'> & { panels: Panel[] };

// What an annotation asks is in the hands of its data source; these are the fields of Prometheus'.
type Annotation = Omit<Json<raw.AnnotationQuery>, 'target'> & {
  target?: Record<string, unknown>;
  expr?: string;
  step?: string;
  tagKeys?: string;
  textFormat?: string;
  titleFormat?: string;
  useValueForTime?: boolean;
};

export type Dashboard = Omit<Json<raw.Dashboard>, 'panels' | 'annotations'> & {
  annotations?: { list?: Annotation[] };
  panels: (Panel | Row)[];
};
