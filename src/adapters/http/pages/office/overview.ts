import type { OverviewRange, overview } from '../../../../application/overview.ts';
import { type Html, html, NO_HTML } from '../../../../application/templates.ts';
import { LOGIN_METHOD_NAMES } from '../../../../domain/assurance.ts';
import type { SessionEnding } from '../../../../domain/event.ts';
import { pathIn } from '../layout.ts';
import { chartOf, type Series } from './chart.ts';
import { numberOf, officePage, timeOf, wordsOf } from './frame.ts';
import type { PageView } from './view.ts';

type Overview = Awaited<ReturnType<ReturnType<typeof overview>>>;

/** The reasons for which sessions end, in five groups, so that the chart is readable. */
const ENDING_GROUPS: readonly (readonly [name: string, reasons: readonly SessionEnding[]])[] = [
  ['Log-out', ['logout', 'ended-by-user', 'all-ended', 'account-deleted']],
  ['Replaced', ['replaced', 'evicted']],
  ['Expired', ['expired']],
  [
    'Change of a password or a factor',
    ['password-changed', 'password-reset', 'email-change-undone', 'factors-undone', 'address-proven'],
  ],
  ['Operator, or probably stolen', ['operator', 'token-replayed']],
];

const RANGE_NAMES: Readonly<Record<OverviewRange, string>> = { '24h': '24 hours', '7d': '7 days', '30d': '30 days' };

export const overviewPage = (
  view: PageView,
  data: Overview,
  { range = '24h' }: { readonly range?: OverviewRange | undefined },
): string => {
  const { steps } = data;
  const labels = steps.map(({ at }) => new Date(at).toISOString().slice(...(range === '24h' ? [11, 16] : [5, 10])));
  const valuesOf = (kind: string, details?: readonly string[]) =>
    steps.map(({ counts }) =>
      counts
        .filter((each) => each.kind === kind && (details?.includes(each.detail) ?? true))
        .reduce((sum, { count }) => sum + count, 0),
    );
  const seriesOf = (name: string, kind: string): Series[] => [{ name, values: valuesOf(kind) }];
  const methods = [
    ...LOGIN_METHOD_NAMES.map((name) => ({ name: wordsOf(name), values: valuesOf('logged-in', [name]) })),
    { name: 'Not known', values: valuesOf('logged-in', ['']) },
  ].filter(({ values }) => values.some((value) => value > 0));
  const endings = ENDING_GROUPS.map(([name, reasons]) => ({ name, values: valuesOf('session-ended', reasons) }));
  return officePage(view, {
    path: '/office',
    title: 'Overview',
    main: html`${figuresOf(view, data)}
<nav aria-label="Time" class="ranges">${Object.entries(RANGE_NAMES).map(
      ([value, name]) =>
        html`<a href="?range=${value}"${value === range ? html` aria-current="true"` : ''}>${name}</a>\n`,
    )}</nav>
<div class="charts">
${[
  chartOf({ title: 'Log-ins', labels, series: methods }),
  chartOf({ title: 'Registrations', labels, series: seriesOf('Registrations', 'registered') }),
  chartOf({ title: 'Refused log-ins', labels, series: seriesOf('Refused', 'login-refused'), firstHue: 3 }),
  chartOf({ title: 'Ended sessions', labels, series: endings }),
]}${sessionsOf(data, labels)}</div>
<p class="lead">Times are in UTC. A log-in is counted once for each device in an hour that has several.</p>`,
  });
};

/** The chart of active sessions. It begins at the first step with a number. A step without a number has the number of the step before. */
const sessionsOf = ({ steps }: Overview, labels: readonly string[]): Html => {
  let lastCount: number | undefined;
  const values = steps.flatMap(({ counts }) => {
    lastCount = counts.find(({ kind }) => kind === 'sessions')?.count ?? lastCount;
    return lastCount ?? [];
  });
  const axisLabels = labels.slice(labels.length - values.length);
  return chartOf({
    title: 'Active sessions',
    labels: axisLabels,
    series: [{ name: 'Sessions', values }],
    isLine: true,
  });
};

const figuresOf = ({ site }: PageView, { users, sessions, waitingMails, waitingWebhooks }: Overview): Html => {
  const countOrDash = (number: number | null) => html`${number === null ? '–' : numberOf(number)}`;
  const countUpTo = ({ count: number }: Overview['waitingMails'], maxCounted: number) =>
    html`${numberOf(number)}${number === maxCounted ? ' or more' : ''}`;
  const sinceOf = ({ since: at }: Overview['waitingMails']) => (at === null ? null : html`since ${timeOf(at)}`);
  const linkTo = (path: string, text: string) => html`<a href="${pathIn(site, path)}">${text}</a>`;
  const figures: readonly (readonly [name: Html | string, value: Html, when: Html | string | null])[] = [
    [linkTo('/office/users', 'Users'), countOrDash(users), 'at the last full hour'],
    ['Sessions', countOrDash(sessions), 'at the last full hour'],
    ['Waiting mails', countUpTo(waitingMails, 2_000), sinceOf(waitingMails)],
    [linkTo('/office/webhooks', 'Waiting webhook events'), countUpTo(waitingWebhooks, 1_000), sinceOf(waitingWebhooks)],
  ];
  return html`<dl class="figures">${figures.map(([name, value, when]) => html`<div class="figure"><dt>${name}</dt><dd>${value}</dd>${when === null ? NO_HTML : html`<dd class="since">${when}</dd>`}</div>\n`)}</dl>`;
};
