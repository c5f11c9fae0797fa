import { type Html, html, NO_HTML } from '../../../../application/templates.ts';
import { numberOf, tableOf } from './frame.ts';

export type Series = { readonly name: string; readonly values: readonly number[] };

type Chart = {
  readonly title: string;
  /** The times of the steps, as the axis shows them. */
  readonly labels: readonly string[];
  /** At most six; the fifth and the sixth share a colour. The chart stacks their bars. */
  readonly series: readonly Series[];
  /** Whether to draw a line instead of bars: for numbers that do not add up over the steps. */
  readonly isLine?: boolean;
  /** The number of the first series' colour in the stylesheet. Default: 1. */
  readonly firstHue?: number;
};

/** Units of the SVG, which the page stretches to its width. */
const [STEP_WIDTH, HEIGHT] = [10, 100];

/** A chart of bars or a line, with a table of the same numbers; only a sentence if all numbers are 0. */
export const chartOf = ({ title, labels, series, isLine = false, firstHue = 1 }: Chart): Html => {
  const totals = labels.map((_, at) => sum(series.map(({ values }) => values[at] ?? 0)));
  if (sum(totals) === 0)
    return html`<figure class="chart">
<figcaption>${title} <strong>${labels.length === 0 ? '–' : '0'}</strong></figcaption>
<p class="lead">${labels.length === 0 ? 'Not counted yet.' : 'None in this time.'}</p>
</figure>
`;
  const max = Math.max(1, ...totals);
  const total = numberOf(isLine ? (totals.at(-1) ?? 0) : sum(totals));
  const peak = labels[totals.indexOf(max)];
  const description = `${title}: ${total}${isLine ? '' : ' in all'}${peak === undefined ? '' : `, at most ${numberOf(max)} (${peak})`}`;
  const shapes = isLine ? lineOf(totals, max) : labels.map((label, at) => barOf(label, series, at, { max, firstHue }));
  return html`<figure class="chart">
<figcaption>${title} <strong>${total}</strong></figcaption>
<small class="most" aria-hidden="true">${numberOf(max)}</small>
<svg viewBox="0 0 ${labels.length * STEP_WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${description}">${shapes}</svg>
<p class="axis" aria-hidden="true"><span>${labels[0] ?? ''}</span><span>${labels[Math.floor(labels.length / 2)] ?? ''}</span><span>${labels.at(-1) ?? ''}</span></p>
${series.length > 1 ? html`<ul class="legend">${series.map(({ name, values }, at) => (sum(values) === 0 ? NO_HTML : html`<li class="s${at + 1}">${name} ${numberOf(sum(values))}</li>`))}</ul>` : NO_HTML}
<details><summary>As a table</summary>
${tableOf(
  `${title}, in UTC`,
  ['Time', ...series.map(({ name }) => name)],
  labels.map((label, at) =>
    [label, ...series.map(({ values }) => numberOf(values[at] ?? 0))].map((cell) => html`${cell}`),
  ),
)}</details>
</figure>
`;
};

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

type Scale = { readonly max: number; readonly firstHue: number };

const barOf = (label: string, series: readonly Series[], at: number, { max, firstHue }: Scale): Html => {
  let top = HEIGHT;
  const parts = series.map(({ values }, place) => {
    const height = ((values[at] ?? 0) / max) * HEIGHT;
    top -= height;
    return height === 0
      ? NO_HTML
      : html`<rect class="s${place + firstHue}" x="${at * STEP_WIDTH + 1}" y="${top.toFixed(2)}" width="${STEP_WIDTH - 2}" height="${height.toFixed(2)}"/>`;
  });
  const counts = series.map(({ name, values }) => `${name} ${values[at] ?? 0}`).join(', ');
  return html`<g><title>${label}: ${counts}</title>${parts}</g>`;
};

const lineOf = (values: readonly number[], max: number): Html => {
  const points = values.map(
    (value, at) => `${at * STEP_WIDTH + STEP_WIDTH / 2},${(HEIGHT - (value / max) * (HEIGHT - 4)).toFixed(2)}`,
  );
  return html`<polyline class="line" points="${points.join(' ')}"/>`;
};
