import { describe, expect, it } from 'vitest';
import { prometheusMetrics } from '../../../src/adapters/metrics/prometheus.ts';
import { alertRules, dashboardQueries } from '../../support/checkout/observed.ts';
import { readText, tableBelow } from '../../support/checkout/repository.ts';
import { declaredRoutes } from '../../support/http/service.ts';

const page = readText('docs/observe.md');
const queries = [...alertRules().map(({ expr }) => expr), ...dashboardQueries()];

/** All metrics, of a service with a pool, Redis and mail, and a request of each route. */
const scraped = async (): Promise<string> => {
  const metrics = prometheusMetrics({ version: '1.2.3', revision: null });
  metrics.watch({
    passwordHashes: () => ({ running: 0, waiting: 0 }),
    endedSessions: () => ({ listed: 0, waiting: 0 }),
    databaseConnections: () => ({ used: 0, idle: 0, waiting: 0 }),
    maxDatabaseConnections: 10,
    clockOffset: () => 0,
    rateLimits: () => 'shared',
    isRedisUp: async () => true,
    isReady: async () => true,
    isDegraded: async () => false,
    waitingMail: () => ({ count: 0, seconds: 0 }),
    waitingWebhooks: () => ({ count: 0, seconds: 0 }),
  });
  metrics.watchLog(() => 0);
  metrics.observeUnreadable(400);
  for (const { name } of await declaredRoutes()) metrics.observeRequest(name, 200, 1);
  return metrics.text();
};

const samplesOf = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
/** `name{label="value"} 1`, with the values that a service of any use has. */
const nameOf = (sample: string) => /^\w+/.exec(sample)?.[0];
/** Labels whose values are no names of the service. */
const OPEN = ['status', 'job'];

it('docs/observe.md lists the metrics of the service, and their labels', async () => {
  const text = await scraped();
  const own = [...text.matchAll(/^# TYPE (tandem_\w+) \w+$/gm)].map(([, name]) => name);
  const listed = tableBelow(page, 'Metrics').map(([name, labels = '']) => ({ name, labels }));
  expect(listed.map(({ name }) => name).sort()).toEqual(own.toSorted());
  for (const { name, labels } of listed) {
    const sample = samplesOf(text).find((line) => [name, `${name}_count`].includes(nameOf(line))) ?? '';
    expect([...sample.matchAll(/(\w+)="/g)].map(([, label]) => label).join(', '), name).toBe(labels);
  }
});

describe('the rules and the dashboard', () => {
  it('name only metrics that the service has, besides `up`', async () => {
    const names = new Set(samplesOf(await scraped()).map(nameOf));
    const used = queries.flatMap((query) => query.match(/\b(?:tandem|nodejs|process|up)(?:_\w+)?(?=[{[) ]|$)/g) ?? []);
    expect(used.length).toBeGreaterThan(queries.length - 1);
    expect(used.filter((name) => name !== 'up' && !names.has(name))).toEqual([]);
  });

  it('select only labels and values that these have', async () => {
    const samples = samplesOf(await scraped());
    const selectors = queries.flatMap((query) => [...query.matchAll(/\b(tandem_\w+)\{([^}]*)\}/g)]);
    for (const [, metric = '', matchers = ''] of selectors) {
      const own = samples.filter((line) => nameOf(line) === metric);
      for (const [, label = '', values = ''] of matchers.matchAll(/(\w+)\s*[!=]~?\s*"([^"]*)"/g)) {
        if (OPEN.includes(label)) continue;
        for (const value of values.split('|'))
          expect(
            own.some((line) => line.includes(`${label}="${value}"`)),
            `${metric} ${label}="${value}"`,
          ).toBe(true);
      }
    }
    expect(selectors.length).toBeGreaterThan(20);
  });
});
