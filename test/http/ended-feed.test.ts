import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { endedFeed } from '../../src/adapters/http/routes/service/ended-sessions.ts';
import type { AccessClaims } from '../../src/domain/tokens.ts';

const NEVER = new AbortController().signal;
const MINUTES = 600_000;
const MAX_OF_CLIENT = 100;
const MOST = 1_000;

/** A list that does not change, whose callers have it. */
const setUp = () => {
  const feed = endedFeed({
    read: async () => ({ list: { lifetime: 1, sessions: [], users: [] }, ids: [] }),
    sign: async () => 'signed',
  });
  const wait = (client: string, hungUp = NEVER) => feed.list({ hasList: () => true, wait: MINUTES, client, hungUp });
  const waiting = (count: number) => expect.poll(() => feed.counts().waiting).toBe(count);
  return { feed, wait, waiting };
};

describe('who waits for the list of ended sessions', () => {
  it('is forgotten after hanging up', async () => {
    const { wait, waiting } = setUp();
    const [first, second] = [new AbortController(), new AbortController()];
    const left = wait('client', first.signal);
    void wait('client', second.signal);
    await waiting(2);
    first.abort();
    await left;
    await waiting(1);
    second.abort();
    await waiting(0);
  });

  it('is woken once by all that ends before the list is read again', async () => {
    const { feed, wait, waiting } = setUp();
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const left = wait('client');
    await waiting(1);
    const before = timers.mock.calls.length;
    for (let ended = 0; ended < 100; ended += 1) {
      feed.notify();
      await setImmediate();
    }
    expect(timers.mock.calls.length - before).toBeLessThan(20);
    feed.stop();
    await left;
  });

  it('is answered when the service stops, and at once from then on', async () => {
    const { feed, wait } = setUp();
    const before = [wait('a'), wait('b')];
    feed.stop();
    expect(await Promise.all([...before, wait('c')])).toHaveLength(3);
    expect(feed.counts().waiting).toBe(0);
  });

  it('is answered at once beyond a number for each address, and beyond one for all', async () => {
    const { feed, wait, waiting } = setUp();
    const fill = (client: string) => Array.from({ length: MAX_OF_CLIENT }, () => wait(client));
    const held = fill('0');
    await waiting(MAX_OF_CLIENT);
    await wait('0');
    for (let client = 1; client < MOST / MAX_OF_CLIENT; client += 1) held.push(...fill(`${client}`));
    await waiting(MOST);
    await wait('another');
    feed.stop();
    await Promise.all(held);
  });
});

it('knows what has ended while the list cannot be read, as of the last time', async () => {
  let reads = 0;
  const entry = { sid: 'ended', event_timestamp: 1, initiating_entity: 'user', reason: 'logout' } as const;
  const feed = endedFeed({
    read: async () => {
      reads += 1;
      if (reads !== 2) throw new Error('the database is away');
      return { list: { lifetime: 1, sessions: [entry], users: [] }, ids: ['1'] };
    },
    sign: async () => 'signed',
  });
  const has = (sessionId: string) => feed.includes({ sessionId, claims: {} as AccessClaims });
  expect(await has('ended')).toBe(false);
  expect([await has('ended'), await has('live')]).toEqual([true, false]);
  feed.notify();
  await expect.poll(async () => [await has('ended'), reads]).toEqual([true, 3]);
});
