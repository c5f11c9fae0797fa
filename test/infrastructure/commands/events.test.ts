import { ulid } from 'ulid';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { events } from '../../../src/infrastructure/commands/users/act.ts';
import { anEvent, aUser, NOW } from '../../support/builders.ts';

const MINUTE = 60_000;

const setUp = async (times: readonly number[]) => {
  const user = aUser();
  const { users, events: stored } = memoryStorage();
  await users.add(user);
  await stored.add(times.map((at) => anEvent({ userId: user.id, id: ulid(at), at })));
  const listed = (since: number | null, until: number | null) => events({ events: stored }, user, { since, until });
  return { user, stored, listed };
};

const series = (count: number, interval: number): number[] =>
  Array.from({ length: count }, (_, index) => NOW - index * interval);

const timesIn = (json: string): number[] =>
  JSON.parse(json).events.map(({ at }: { readonly at: string }) => Date.parse(at));

describe('the events of a range', () => {
  it('are the same as those that are stored, the latest first', async () => {
    const times = series(600, MINUTE);
    const { listed } = await setUp(times);
    expect(timesIn((await listed(0, null)).json)).toStrictEqual(times);
    const [since, until] = [NOW - 500 * MINUTE, NOW - 300 * MINUTE];
    expect(timesIn((await listed(since, until)).json)).toStrictEqual(times.slice(300, 501));
    expect(timesIn((await listed(NOW + 1, null)).json)).toStrictEqual([]);
  });

  it('have refused log-ins whose count began before it', async () => {
    const { user, stored, listed } = await setUp(series(600, 1_000));
    const at = NOW - 1_000;
    const begun = NOW - 30 * MINUTE;
    await stored.add([anEvent({ id: ulid(begun), userId: user.id, kind: 'login-refused', at, count: 7 })]);
    const found = timesIn((await listed(at, null)).json);
    expect(found).toStrictEqual([NOW, at, at]);
  });
});

describe('the latest events', () => {
  it('are 50, and say whether there are older ones', async () => {
    const { listed } = await setUp(series(51, MINUTE));
    const answer = await listed(null, null);
    expect(timesIn(answer.json)).toHaveLength(50);
    const text = answer.text;
    expect(text.split('\n')).toHaveLength(53);
    expect(text).toMatch(/\nThese are the latest 50\. For older ones use --since or --until\.\n$/);
    const few = await setUp(series(50, MINUTE));
    expect((await few.listed(null, null)).text).not.toContain('older');
  });

  it('may be none', async () => {
    const { listed } = await setUp([]);
    expect((await listed(null, null)).text).toBe('No events.\n');
    expect(timesIn((await listed(0, null)).json)).toStrictEqual([]);
  });
});
