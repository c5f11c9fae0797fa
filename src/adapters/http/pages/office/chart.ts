import { type Html, html, NOTHING } from '../../../../application/templates.ts';
import { numberOf, tableOf } from './frame.ts';

export type Series = { readonly name: string; readonly values: readonly number[] };

type Chart = {
  readonly title: string;
  /** The names of the steps. */
  readonly labels: readonly string[];
  /** At most five, which are stacked. */
  readonly series: readonly Series[];
  /** Bars show what happened, a line what there was. */
  readonly isLine?: boolean;
  /** The colour of the first series. Default: 1. */
  readonly firstHue?: number;
};

/** The page stretches the picture. */
const [STEP_WIDTH, HEIGHT] = [10, 100];

/** Bars or a line, with a table that says the same; only a sentence if there is nothing to draw. */
export const chartOf = ({ title, labels, series, isLine = false, firstHue = 1 }: Chart): Html => {
  const totals = labels.map((_, at) => sum(series.map(({ values }) => values[at] ?? 0)));
  if (sum(totals) === 0)
    return html`<figure class="chart">
<figcaption>${title} <strong>${labels.length === 0 ? '–' : '0'}</strong></figcaption>
<p class="lead">${labels.length === 0 ? 'Not counted yet.' : 'None in this time.'}</p>
</figure>
`;
  const most = Math.max(1, ...totals);
  const total = numberOf(isLine ? (totals.at(-1) ?? 0) : sum(totals));
  const peak = labels[totals.indexOf(most)];
  const said = `${title}: ${total}${isLine ? '' : ' in all'}${peak === undefined ? '' : `, at most ${numberOf(most)} (${peak})`}`;
  const drawn = isLine ? lineOf(totals, most) : labels.map((label, at) => barOf(label, series, at, { most, firstHue }));
  return html`<figure class="chart">
<figcaption>${title} <strong>${total}</strong></figcaption>
<small class="most" aria-hidden="true">${numberOf(most)}</small>
<svg viewBox="0 0 ${labels.length * STEP_WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${said}">${drawn}</svg>
<p class="axis" aria-hidden="true"><span>${labels[0] ?? ''}</span><span>${labels[Math.floor(labels.length / 2)] ?? ''}</span><span>${labels.at(-1) ?? ''}</span></p>
${series.length > 1 ? html`<ul class="legend">${series.map(({ name, values }, at) => (sum(values) === 0 ? NOTHING : html`<li class="s${at + 1}">${name} ${numberOf(sum(values))}</li>`))}</ul>` : NOTHING}
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

type Scale = { readonly most: number; readonly firstHue: number };

const barOf = (label: string, series: readonly Series[], at: number, { most, firstHue }: Scale): Html => {
  let top = HEIGHT;
  const parts = series.map(({ values }, place) => {
    const height = ((values[at] ?? 0) / most) * HEIGHT;
    top -= height;
    return height === 0
      ? NOTHING
      : html`<rect class="s${place + firstHue}" x="${at * STEP_WIDTH + 1}" y="${top.toFixed(2)}" width="${STEP_WIDTH - 2}" height="${height.toFixed(2)}"/>`;
  });
  const counts = series.map(({ name, values }) => `${name} ${values[at] ?? 0}`).join(', ');
  return html`<g><title>${label}: ${counts}</title>${parts}</g>`;
};

const lineOf = (values: readonly number[], most: number): Html => {
  const points = values.map(
    (value, at) => `${at * STEP_WIDTH + STEP_WIDTH / 2},${(HEIGHT - (value / most) * (HEIGHT - 4)).toFixed(2)}`,
  );
  return html`<polyline class="line" points="${points.join(' ')}"/>`;
};
