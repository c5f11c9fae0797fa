import { LIMIT, REFERENCE, SYSTEMS } from '../systems/systems.ts';
import { BCRYPT } from '../workloads/bare-bcrypt.ts';
import { METRICS, type Metric, type Samples } from './samples.ts';
import { median } from './statistics.ts';
import { figure, type Section, table } from './table.ts';

const NAMES = Object.keys(METRICS) as Metric[];
const ROWS = [...SYSTEMS, BCRYPT];

const cells = (cell: (system: string, metric: Metric) => string) =>
  ROWS.map(({ name, title }) => [title, ...NAMES.map((metric) => cell(name, metric))]).filter((row) =>
    row.slice(1).some((text) => text !== '–'),
  );

const HEAD = ['', ...NAMES.map((metric) => METRICS[metric].title)];

/** The speed of the machine changes between turns, and within one much less. */
const ratioOf = (values: readonly number[], references: readonly number[]): number =>
  median(values.map((value, turn) => value / (references[turn] ?? Number.NaN)).filter((ratio) => !Number.isNaN(ratio)));

const ratios = (samples: Samples): Section => ({
  title: `Ratios: ${REFERENCE.title} = 1`,
  text: [
    'More is better where something is counted in a second; less is better for times and memory. The processor time of a request is that of the server alone; it changes less than the others when the machine is not quiet. Registrations and the flood are measured after 45 s of log-ins, when V8 has compiled what they run; log-ins after 90 s of them, in turns of five seconds; what runs on one core after 15 s and 30,000 requests of it, in turns of a second. A ratio is the median of those of the turns, or rounds: what took its turn at the same time.',
    table(
      HEAD,
      cells((system, metric) => figure(ratioOf(samples.of(system, metric), samples.of(REFERENCE.name, metric)), 2)),
    ),
  ].join('\n\n'),
});

const medians = (samples: Samples): Section => ({
  title: 'Medians, and the least and the most',
  text: table(
    HEAD,
    cells((system, metric) => {
      const values = samples.of(system, metric).filter((value) => !Number.isNaN(value));
      const { digits } = METRICS[metric];
      if (values.length === 0) return '–';
      const spread = [Math.min(...values), Math.max(...values)].map((value) => figure(value, digits)).join(' to ');
      return `${figure(median(values), digits)} (${spread})`;
    }),
  ),
});

/** How much of bare bcrypt each system reaches. */
const ofBcrypt = (samples: Samples): Section => {
  const metrics: Metric[] = ['register', 'logIn16', 'logIn64'];
  const share = (system: string, metric: Metric) =>
    figure(median(samples.of(system, metric)) / median(samples.of(BCRYPT.name, metric)), 3);
  return {
    title: 'Shares of bare bcrypt',
    text: [
      'Registrations for each `bcrypt.hash`, log-ins for each `bcrypt.compare`, of the same cost and in the same run.',
      table(
        ['', ...metrics.map((metric) => METRICS[metric].title)],
        SYSTEMS.filter(({ name }) => samples.of(name, 'logIn16').length > 0).map(({ name, title }) => [
          title,
          ...metrics.map((metric) => share(name, metric)),
        ]),
      ),
    ].join('\n\n'),
  };
};

/** Whether the load client was the limit: how far the fastest system stays below a server that does nothing. */
const headroom = (samples: Samples): Section => {
  const speeds = (metric: Metric) =>
    SYSTEMS.filter((system) => system !== LIMIT)
      .map(({ name }) => median(samples.of(name, metric)))
      .filter((speed) => !Number.isNaN(speed));
  const rows = (['refresh', 'session'] as const).map((metric) => {
    const limit = median(samples.of(LIMIT.name, metric));
    const fastest = speeds(metric).reduce((most, speed) => Math.max(most, speed), 0);
    return [METRICS[metric].title, figure(limit, 0), figure(fastest, 0), figure(limit / fastest, 1)];
  });
  return { title: 'The load client', text: table(['', LIMIT.title, 'the fastest system', 'times'], rows) };
};

const switchedOn: Section = {
  title: 'What was switched on',
  text: table(
    ['', 'switched on'],
    SYSTEMS.map(({ title, switchedOn }) => [title, switchedOn]),
  ),
};

/** Nothing when nothing was measured. */
export const comparison = (samples: Samples): Section[] =>
  samples.areThere() ? [ratios, medians, ofBcrypt, headroom].map((part) => part(samples)).concat(switchedOn) : [];
