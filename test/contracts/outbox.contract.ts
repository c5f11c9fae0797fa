import { expect } from 'vitest';
import { type Outbox, REQUESTS_WAITING } from '../../src/application/ports/outbox.ts';
import { MESSAGE_KINDS, type Message } from '../../src/domain/message.ts';
import { aMessage, anId, NOW } from '../support/builders.ts';
import { expectTranslated, rejection } from './hooks.ts';
import { type GivenRecords, givenRecords, type RecordsStore } from './records/store.ts';
import { prepared, type Tests, vitestSuite } from './suite.ts';
import { atBoth } from './two-instances.ts';

export type OutboxStore = RecordsStore<Outbox>;
type Given = GivenRecords<Outbox>;

const LEASE = 60_000;
const ORIGIN = { requestId: anId(), userAgent: 'Mozilla/5.0 (“Ünïcode” / 1)', address: '203.0.113.0/24' };

/** A request of somebody who is not logged in. */
const aRequest = (given: Partial<Message> = {}): Message =>
  aMessage({ kind: 'password-reset-request', userId: null, ...given });
const claim = (outbox: Outbox, now = NOW, limit = 100): Promise<Message[]> =>
  outbox.claim({ now, until: now + LEASE, limit });
const idsOf = (messages: readonly Message[]): string[] => messages.map(({ id }) => id).sort();
const series = (userId: string, count: number): Message[] =>
  Array.from({ length: count }, (_, at) => aMessage({ userId, createdAt: NOW + at }));

const claiming = ({ it }: Tests<Given>): void => {
  it('claims messages whose time has come, the oldest first, at most as many as it is asked to', async (given) => {
    const { repository: outbox, owner } = given;
    const messages = series(owner, 5);
    await outbox.add(messages.toReversed());
    expect(await claim(outbox, NOW - 1)).toEqual([]);
    const [first, second, third] = [
      await claim(outbox, NOW + 3, 2),
      await claim(outbox, NOW + 3, 100),
      await claim(outbox, NOW + 4, 100),
    ];
    expect([first, second, third].map(idsOf)).toEqual([
      idsOf(messages.slice(0, 2)),
      idsOf(messages.slice(2, 4)),
      idsOf(messages.slice(4)),
    ]);
  });

  it('claims a message as it was added', async ({ repository: outbox, owner }) => {
    const messages = MESSAGE_KINDS.map((kind, at) =>
      aMessage({
        kind,
        userId: at % 2 ? owner : null,
        to: `${at}@example.org`,
        email: at % 3 ? null : 'Ü',
        origin: ORIGIN,
      }),
    );
    await outbox.add([]);
    await outbox.add(messages);
    const claimed = await claim(outbox);
    const byId = (a: Message, b: Message) => (a.id < b.id ? -1 : 1);
    expect(claimed.sort(byId)).toStrictEqual(messages.map((message) => ({ ...message, attempts: 1 })));
  });

  it('claims each message for one of several instances, until the lease ends', async ({ repository, owner, hook }) => {
    const another = await hook('another')();
    const messages = series(owner, 60);
    await repository.add(messages);
    const claimed = await atBoth(another, repository, (outbox) =>
      Promise.all(Array.from({ length: 4 }, () => claim(outbox, NOW + 60, 10))),
    );
    const rest = await claim(repository, NOW + 60);
    expect(idsOf([...claimed.flat(2), ...rest])).toEqual(idsOf(messages));
    expect(await claim(another, NOW + 60 + LEASE - 1)).toEqual([]);
    expect(idsOf(await claim(another, NOW + 60 + LEASE))).toEqual(idsOf(messages));
  });

  it('counts the attempts of a message', async ({ repository: outbox, owner }) => {
    const [message, other] = [aMessage({ userId: owner }), aMessage({ userId: owner, createdAt: NOW + 3 * LEASE })];
    await outbox.add([message, other]);
    for (const attempts of [1, 2, 3]) {
      expect(await claim(outbox, NOW + (attempts - 1) * LEASE)).toStrictEqual([{ ...message, attempts }]);
    }
    await outbox.remove([message.id]);
    expect(await claim(outbox, NOW + 3 * LEASE)).toStrictEqual([{ ...other, attempts: 1 }]);
  });

  it('claims a message again at the time to which it was postponed', async ({ repository: outbox, owner }) => {
    const [early, late] = [aMessage({ userId: owner }), aMessage({ userId: owner })];
    await outbox.add([early, late]);
    await claim(outbox);
    await outbox.postpone(early.id, NOW + 10);
    await outbox.postpone(late.id, NOW + 2 * LEASE);
    await outbox.postpone(anId(), NOW);
    expect(await claim(outbox, NOW + 9)).toEqual([]);
    expect(await claim(outbox, NOW + 10)).toStrictEqual([{ ...early, attempts: 2 }]);
    await outbox.postpone(early.id, NOW + 3 * LEASE);
    expect(await claim(outbox, NOW + 2 * LEASE - 1)).toEqual([]);
    // The one whose time came first, not the one that was added first.
    expect(await claim(outbox, NOW + 3 * LEASE, 1)).toStrictEqual([{ ...late, attempts: 2 }]);
    expect(await claim(outbox, NOW + 3 * LEASE, 1)).toStrictEqual([{ ...early, attempts: 3 }]);
  });
};

const requesting = ({ it }: Tests<Given>): void => {
  it('keeps one request of each kind for an address until it is claimed', async ({ repository: outbox, owner }) => {
    const kept = [aRequest(), aRequest({ kind: 'email-verification-request' }), aRequest({ to: 'other@example.org' })];
    const refused = [aRequest({ createdAt: NOW - 1 }), aRequest({ kind: 'email-verification-request' })];
    const others = [aMessage({ userId: owner }), aMessage({ userId: owner })];
    await outbox.add([...kept, ...refused, ...others]);
    expect(idsOf(await claim(outbox))).toEqual(idsOf([...kept, ...others]));
    // What was claimed is being answered.
    const next = aRequest();
    await outbox.add([next, aRequest()]);
    expect((await outbox.waiting()).count).toBe(kept.length + others.length + 1);
    await outbox.remove([next.id]);
    await outbox.add([aRequest(), aRequest()]);
    expect((await outbox.waiting()).count).toBe(kept.length + others.length + 1);
  });

  it('keeps one of many requests for an address that come at the same time', async (given) => {
    const { repository, anotherIfAny } = given;
    await atBoth(await anotherIfAny(), repository, (outbox) =>
      Promise.all(Array.from({ length: 30 }, () => outbox.add([aRequest()]))),
    );
    expect((await repository.waiting()).count).toBe(1);
  });

  it('keeps a bounded number of requests', async ({ repository: outbox, owner }) => {
    const requests = Array.from({ length: REQUESTS_WAITING + 3 }, (_, at) => aRequest({ to: `${at}@example.org` }));
    await outbox.add(requests);
    expect((await outbox.waiting()).count).toBe(REQUESTS_WAITING);
    const other = aMessage({ userId: owner });
    await outbox.add([other]);
    expect((await outbox.waiting()).count).toBe(REQUESTS_WAITING + 1);
    await outbox.remove([requests[0]?.id ?? '']);
    const [late, later] = [aRequest({ to: 'late@example.org' }), aRequest({ to: 'later@example.org' })];
    await outbox.add([late, later]);
    // The later ones were dropped.
    const kept = [...requests.slice(1, REQUESTS_WAITING), other, late];
    expect(idsOf(await claim(outbox, NOW, 2 * REQUESTS_WAITING))).toEqual(idsOf(kept));
    expect((await outbox.waiting()).count).toBe(REQUESTS_WAITING + 1);
  });

  it('names the user of a message, once it is known', async ({ repository: outbox, owner, otherUser }) => {
    const request = aRequest({ origin: ORIGIN });
    await outbox.add([request]);
    const identity = { kind: 'password-reset', userId: owner } as const;
    expect(await outbox.identify(request.id, identity)).toBe(true);
    expect(await outbox.identify(anId(), identity)).toBe(false);
    expect(await outbox.listByUser(owner)).toStrictEqual([{ ...request, ...identity }]);
    expect(await outbox.listByUser(otherUser)).toEqual([]);
  });
};

const removing = ({ it }: Tests<Given>): void => {
  it('removes messages', async ({ repository: outbox, owner }) => {
    const [first, second, third] = [
      aMessage({ userId: owner }),
      aMessage({ userId: owner }),
      aMessage({ userId: owner }),
    ];
    await outbox.add([first, second, third]);
    await outbox.remove([]);
    await outbox.remove([first.id, third.id, anId()]);
    expect(await claim(outbox)).toStrictEqual([{ ...second, attempts: 1 }]);
    expect(await outbox.identify(first.id, first)).toBe(false);
  });

  it('lists the messages about a user', async ({ repository: outbox, owner, otherUser, stranger }) => {
    const [own, ofOther] = [series(owner, 3), series(otherUser, 1)];
    await outbox.add([...own, ...ofOther, aRequest()]);
    const byId = (a: Message, b: Message) => (a.id < b.id ? -1 : 1);
    expect((await outbox.listByUser(owner)).sort(byId)).toStrictEqual(own);
    for (const id of [stranger, '', 'no id', '\0']) expect(await outbox.listByUser(id)).toEqual([]);
  });

  it('says how many messages wait, and since when', async ({ repository: outbox, owner }) => {
    expect(await outbox.waiting()).toStrictEqual({ count: 0, since: null });
    const messages = series(owner, 3);
    await outbox.add(messages.toReversed());
    await claim(outbox);
    expect(await outbox.waiting()).toStrictEqual({ count: 3, since: NOW });
    await outbox.remove([messages[0]?.id ?? '']);
    expect(await outbox.waiting()).toStrictEqual({ count: 2, since: NOW + 1 });
  });

  it('loses the messages about a user who is deleted', async ({ repository: outbox, store, owner, otherUser }) => {
    const [ofOther, request] = [aMessage({ userId: otherUser }), aRequest()];
    await outbox.add([...series(owner, 2), ofOther, request]);
    await store.deleteUser(owner);
    expect(await outbox.listByUser(owner)).toEqual([]);
    expect(idsOf(await claim(outbox))).toEqual(idsOf([ofOther, request]));
  });

  it('rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored', async (given) => {
    const { repository, owner, hook } = given;
    const [message, request] = [aMessage({ userId: owner }), aRequest({ origin: ORIGIN })];
    await repository.add([message, request]);
    const failing = await hook('failing')();
    const calls = [
      () => failing.add([message]),
      () => failing.add([request]),
      () => claim(failing),
      () => failing.identify(request.id, { kind: 'password-reset', userId: owner }),
      () => failing.postpone(message.id, NOW),
      () => failing.remove([message.id]),
      () => failing.listByUser(owner),
      () => failing.waiting(),
    ];
    const secrets = [owner, message.id, request.id, message.to, ORIGIN.userAgent, ORIGIN.address];
    for (const call of calls) expectTranslated(await rejection(call()), secrets);
    expect((await repository.waiting()).count).toBe(2);
  });
};

const PARTS = { claiming, requesting, removing };

/**
 * Registers the tests of every promise of the port for one adapter.
 * @param make makes an empty store and the adapter over it, for each test anew.
 */
export const describeOutbox = (name: string, make: () => Promise<OutboxStore>, suite = vitestSuite): void => {
  const tests = prepared(suite, async (run) => {
    const given = await givenRecords(make, run);
    return { given, close: async () => given.store.close?.() };
  });
  suite.describe(`${name} as an Outbox`, () => {
    for (const [behavior, part] of Object.entries(PARTS)) tests.describe(behavior, () => part(tests));
  });
};
