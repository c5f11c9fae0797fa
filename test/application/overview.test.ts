import { expect, it } from 'vitest';
import { countHour, overview } from '../../src/application/overview.ts';
import { purges } from '../../src/application/sessions/purge.ts';
import { anEventRow } from '../contracts/records/database.ts';
import { registeredAda } from '../support/account.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;

/** Ada has registered in the first minute of an hour. */
const setUp = async () => {
  const { app, user, logIn } = await registeredAda();
  const start = app.clock.now() - (app.clock.now() % HOUR);
  let events = 0;
  const event = (at: number, more: object) => {
    events += 1;
    return app.records.insert('events', anEventRow({ id: `${events}`, userId: user.id, at: start + at, ...more }));
  };
  const countAll = async () => {
    while (await countHour(app, app.clock.now()));
  };
  const shown = async (range: '24h' | '30d' = '24h') => {
    const { steps, ...gauges } = await overview(app)(range);
    return { ...gauges, steps: steps.filter(({ counts }) => counts.some(({ count }) => count > 0)) };
  };
  return { app, user, start, event, logIn, countAll, shown };
};

it('counts what happened by its hour, whether the hour was summed, is over, or is not', async () => {
  const { app, start, event, countAll, shown } = await setUp();
  await event(HOUR - 1, { kind: 'logged-in', method: 'passkey', count: 3 });
  await event(HOUR, { kind: 'logged-in', method: 'password' });
  await event(HOUR, { kind: 'session-ended', reason: 'logout' });
  await event(HOUR + 1, { kind: 'disabled' });
  app.clock.advance(2 * HOUR);
  const expected = [
    { at: start, counts: expect.arrayContaining([{ kind: 'logged-in', detail: 'passkey', count: 3 }]) },
    {
      at: start + HOUR,
      counts: expect.arrayContaining([
        { kind: 'logged-in', detail: 'password', count: 1 },
        { kind: 'session-ended', detail: 'logout', count: 1 },
      ]),
    },
  ];
  expect(await shown()).toMatchObject({ users: null, sessions: null, steps: expected });
  await countAll();
  expect(await shown()).toMatchObject({ users: 1, sessions: 1, steps: expected });
  const all = { kind: 'logged-in', detail: 'passkey', count: 3 };
  expect((await shown('30d')).steps.flatMap(({ counts }) => counts)).toContainEqual(all);
  expect((await app.records.list('hourlyCounts', { order: ['hour'] })).map(({ kind }) => kind)).not.toContain(
    'disabled',
  );
});

it('sums an hour once, minutes after its end, with all of its events and none of another', async () => {
  const { app, start, event } = await setUp();
  for (let at = 0; at < 1_500; at += 1) await event(MINUTE, { kind: 'login-refused' });
  await event(HOUR, { kind: 'login-refused' });
  app.clock.advance(HOUR + 4 * MINUTE - (app.clock.now() - start));
  while (await countHour(app, app.clock.now()));
  const refused = async () =>
    (await app.records.list('hourlyCounts', { equal: { hour: start, kind: 'login-refused' } })).map(
      ({ count }) => count,
    );
  expect(await refused()).toEqual([]);
  app.clock.advance(MINUTE);
  // Two instances at once.
  await Promise.all([countHour(app, app.clock.now()), countHour(app, app.clock.now())]);
  expect(await refused()).toEqual([1_500]);
  expect(await countHour(app, app.clock.now())).toBe(false);
});

it('begins with the hour of the first event', async () => {
  const { app, start, countAll } = await setUp();
  app.clock.advance(2 * HOUR + 5 * MINUTE);
  await countAll();
  const hours = (await app.records.list('hourlyCounts', { order: ['hour'] })).map(({ hour }) => hour);
  expect(new Set(hours)).toEqual(new Set([start, start + HOUR]));
});

it('knows the method of a log-in', async () => {
  const { app, user, logIn } = await setUp();
  await logIn();
  await logIn();
  const events = await app.records.list('events', { equal: { userId: user.id } });
  expect(events.filter(({ kind }) => kind === 'logged-in')).toMatchObject([{ method: 'password', count: 2 }]);
});

it('keeps counts for a month', async () => {
  const { app, countAll } = await setUp();
  app.clock.advance(HOUR);
  await countAll();
  const first = await app.records.list('hourlyCounts', { order: ['hour'], limit: 1 });
  app.clock.advance(32 * 24 * HOUR);
  const { counts } = purges({ ...app, eventsRetention: HOUR, jwtAccessExpiresIn: HOUR });
  while ((await counts(1_000)) >= 1_000);
  expect(await app.records.list('hourlyCounts', { equal: { hour: first[0]?.hour ?? 0 } })).toEqual([]);
});
