import { describe, expect, it } from 'vitest';
import { listEvents } from '../../../src/application/accounts/account-data.ts';
import { COUNTING_PERIOD } from '../../../src/domain/event.ts';
import { BOB, registeredAda } from '../../support/account.ts';

/** Ada, with five events: her registration and four log-ins. */
const setUp = async () => {
  const ada = await registeredAda();
  for (let count = 0; count < 4; count += 1) {
    await ada.logIn();
    ada.app.clock.advance(COUNTING_PERIOD);
  }
  const { events } = await ada.ofAda();
  const list = listEvents(ada.app);
  const caller = { userId: ada.user.id, sessionId: ada.session.sessionId };
  return { ...ada, caller, ids: events.map(({ id }) => id), list };
};

describe('listEvents', () => {
  it('lists the latest first, page after page, each event once', async () => {
    const { caller, ids, list } = await setUp();
    const pages: string[][] = [];
    let before: string | null = null;
    do {
      const page = await list(caller, { before, limit: 2 });
      pages.push(page.events.map(({ id }) => id));
      before = page.next;
    } while (before !== null && pages.length < 10);
    expect(pages).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
    expect(ids).toEqual(ids.toSorted().toReversed());
  });

  it.each([
    [4, true],
    [5, false],
    [6, false],
  ])('of five events, %i to a page, says whether there is a next page: %s', async (limit, isFollowed) => {
    const { caller, ids, list } = await setUp();
    const { events, next } = await list(caller, { before: null, limit });
    expect(events.map(({ id }) => id)).toEqual(ids.slice(0, limit));
    expect(next).toBe(isFollowed ? ids[limit - 1] : null);
  });

  it('lists nothing of another user, and nothing after the last event', async () => {
    const { app, caller, ids, list } = await setUp();
    const { user: bob, sessionId } = await app.register(BOB);
    expect((await list(caller, { before: null, limit: 100 })).events.map(({ id }) => id)).toEqual(ids);
    expect((await list({ userId: bob.id, sessionId }, { before: null, limit: 100 })).events).toMatchObject([
      { kind: 'registered' },
    ]);
    expect(await list(caller, { before: ids.at(-1) ?? '', limit: 2 })).toStrictEqual({ events: [], next: null });
  });
});
