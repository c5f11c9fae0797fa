import { parse } from 'yaml';
import { readText } from './repository.ts';

export type Rule = { readonly alert: string; readonly expr: string };
type Panel = { readonly id: number; readonly title: string; readonly targets: readonly { readonly expr: string }[] };
type Dashboard = { readonly panels: readonly Panel[] };

/** The alert rules that docs/observe.md offers. */
export const alertRules = (): readonly Rule[] =>
  parse(readText('docs/observe/alerts.yml')).groups.flatMap(({ rules }: { readonly rules: readonly Rule[] }) => rules);

const panels = (): readonly Panel[] => (JSON.parse(readText('docs/observe/dashboard.json')) as Dashboard).panels;

/** The queries of the dashboard, with values for Grafana's variables. */
export const dashboardQueries = (): string[] =>
  panels().flatMap(({ targets }) =>
    targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', '.*')),
  );
