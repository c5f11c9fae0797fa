import { describe, expect, it } from 'vitest';
import { removeAccount } from '../../../src/application/accounts/profile.ts';
import type { SendWebhook } from '../../../src/application/ports/hooks.ts';
import { purges } from '../../../src/application/sessions/purge.ts';
import type { Records } from '../../../src/application/storage/records.ts';
import {
  changeWebhook,
  listWebhooks,
  replayDeliveries,
  summarizeDeliveries,
  waitingDeliveries,
} from '../../../src/application/storage/webhooks.ts';
import { deliverWebhooks, REQUESTS_AT_ONCE } from '../../../src/application/webhooks/deliver-webhooks.ts';
import { NO_ORIGIN } from '../../../src/domain/event.ts';
import {
  DELIVERY_LIFETIME,
  type Webhook,
  type WebhookMessage,
  webhookRetryDelay,
} from '../../../src/domain/webhook.ts';
import { ADA, application, DAY, MINUTE, SECOND } from '../../support/application.ts';
import { anEvent, aUser, aWebhook } from '../../support/builders.ts';
import { atCall } from '../../support/records/at-call.ts';
import { reportsOf } from '../../support/reports.ts';
import { storeEvents } from '../../support/stored-events.ts';

const HOUR = 60 * MINUTE;
type Receive = (webhook: Webhook, message: WebhookMessage) => ReturnType<SendWebhook>;
const answers =
  (status: number, retryAfter = 0): Receive =>
  async () => ({ status, retryAfter });

/** The application with webhooks, whose receivers answer as the last one that was set. */
const telling = async (...webhooks: Webhook[]) => {
  const app = application();
  for (const each of webhooks) await app.records.insert('webhooks', each);
  const taken: (WebhookMessage & { readonly by: string })[] = [];
  const outcomes: string[] = [];
  let receive: Receive = answers(204);
  const deps = {
    ...app,
    senderFor: async (webhook) => async (message) => {
      const answer = await receive(webhook, message);
      if (answer.status === 204) taken.push({ by: webhook.id, ...message });
      return answer;
    },
    random: () => 0,
    report: reportsOf('webhook', (outcome) => outcomes.push(outcome)),
  } satisfies Parameters<typeof deliverWebhooks>[0];
  const begin = deliverWebhooks(deps);
  /** Makes the attempts that are due, one after the other. @returns how many. */
  const deliver = async (): Promise<number> => {
    let count = 0;
    for (;;) {
      const begun = await begin();
      if (begun.length === 0) return count;
      await Promise.all(begun);
      count += begun.length;
    }
  };
  const user = aUser();
  await app.users.add(user);
  return {
    ...{ app, deps, user, taken, outcomes, begin, deliver },
    receive: (by: Receive) => {
      receive = by;
    },
    /** Events of the user. */
    happen: (...kinds: ('disabled' | 'enabled')[]) =>
      storeEvents(
        app,
        kinds.map((kind) => anEvent({ userId: user.id, kind, at: app.clock.now() })),
      ),
    /** Lets time pass, and delivers every minute. */
    pass: async (time: number) => {
      for (let left = time; left > 0; left -= MINUTE) {
        app.clock.advance(Math.min(MINUTE, left));
        await deliver();
      }
    },
    enabled: async () => (await listWebhooks(app.records)).filter(({ disabledAt }) => disabledAt === null).length,
  };
};

/** The same records, in which so many deliveries seem to wait. */
const withDeliveries = (records: Records, count: () => number): Records =>
  atCall(records, ['list', 'deliveries'], async (list, _table, { skip }) =>
    skip === undefined ? list() : skip < count() ? [{}] : [],
  );

describe('what webhooks are told', () => {
  it('is the story of a user in ids, numbered, to the end', async () => {
    const { app, deliver, taken } = await telling(aWebhook());
    const { user } = await app.register(ADA);
    await app.login({ account: 'ada', password: ADA.password });
    await app.transactions.run((stores) => removeAccount(app, stores, user.id, NO_ORIGIN));
    await deliver();
    const story = taken.map(({ type, sequence, data }) => [sequence, type, data.reason]);
    expect(story[0]).toEqual([1, 'user.registered', undefined]);
    expect(story).toContainEqual([expect.any(Number), 'session.started', undefined]);
    expect(story).toContainEqual([expect.any(Number), 'session.ended', 'account-deleted']);
    expect(story.at(-1)).toEqual([story.length, 'user.deleted', undefined]);
    expect(taken.every(({ data }) => data.userId === user.id)).toBe(true);
    const allowed = ['userId', 'sessionId', 'reason'];
    expect(taken.flatMap(({ data }) => Object.keys(data)).filter((name) => !allowed.includes(name))).toEqual([]);
    expect(JSON.stringify(taken).toLowerCase()).not.toContain('ada');
  });

  it('goes to others while one receiver never answers', async () => {
    const [slow, quick] = [aWebhook(), aWebhook()];
    const { app, begin, receive, taken } = await telling(slow, quick);
    receive(async ({ id }) => (id === slow.id ? new Promise(() => undefined) : { status: 204, retryAfter: 0 }));
    const users = Array.from({ length: REQUESTS_AT_ONCE + 5 }, () => aUser());
    for (const user of users) {
      await app.users.add(user);
      await storeEvents(app, [anEvent({ userId: user.id, at: app.clock.now() })]);
    }
    const taking = async () => {
      await begin();
      return taken.length;
    };
    await expect.poll(taking).toBe(users.length);
    expect(new Set(taken.map(({ by, data }) => `${by} ${data.userId}`))).toEqual(
      new Set(users.map(({ id }) => `${quick.id} ${id}`)),
    );
  });

  it('is left to an instance that can sign, at the first attempt', async () => {
    const { app, deps, deliver, happen, taken, outcomes } = await telling(aWebhook());
    const other = deliverWebhooks({ ...deps, senderFor: async () => null });
    await happen('disabled', 'enabled');
    expect(await other()).toEqual([]);
    expect(await deliver()).toBe(2);
    expect(taken.map(({ sequence }) => sequence)).toEqual([1, 2]);
    expect([outcomes, await waitingDeliveries(app.records)]).toEqual([
      ['delivered', 'delivered'],
      { count: 0, since: null },
    ]);
  });

  it('is sent by no other instance during an attempt, and again when an instance has died', async () => {
    const { app, begin, deliver, happen, receive } = await telling(aWebhook());
    receive(() => new Promise(() => undefined));
    await happen('disabled');
    expect(await begin()).toHaveLength(1);
    receive(answers(204));
    expect(await deliver()).toBe(0);
    app.clock.advance(30 * SECOND);
    expect(await deliver()).toBe(1);
  });
});

describe('a receiver', () => {
  it.each([
    ['a redirect', answers(307), 5 * SECOND],
    ['the status 404', answers(404), 5 * SECOND],
    ['429 and a time to wait', answers(429, 7 * MINUTE), 7 * MINUTE],
    ['503 and a month to wait', answers(503, 30 * DAY), DAY],
    ['503 and no time to wait', answers(503, 1), 5 * SECOND],
    ['nothing', () => Promise.reject(new Error('late')), 5 * SECOND],
  ])('that answers with %s is told again later', async (_what, receive, delay) => {
    const { app, deliver, happen, receive: answer, outcomes } = await telling(aWebhook());
    answer(receive);
    await happen('disabled');
    expect(await deliver()).toBe(1);
    app.clock.advance(delay - 1);
    expect(await deliver()).toBe(0);
    app.clock.advance(1);
    expect(await deliver()).toBe(1);
    expect(outcomes).toEqual(['failed', 'failed']);
  });

  it('that is gone (410) is told nothing more, until a replay', async () => {
    const { app, deliver, happen, receive, outcomes, enabled, taken } = await telling(aWebhook());
    receive(answers(410));
    await happen('disabled');
    await deliver();
    expect(await enabled()).toBe(0);
    await happen('enabled');
    app.clock.advance(HOUR);
    expect(await deliver()).toBe(0);
    expect(outcomes).toEqual(['disabled']);
    const [{ id } = aWebhook()] = await listWebhooks(app.records);
    await changeWebhook(app.records, id, { disabledAt: null });
    await app.transactions.run((stores) => replayDeliveries(stores.records, id, '', app.clock.now()));
    receive(answers(204));
    await deliver();
    expect(taken.map(({ type }) => type)).toEqual(['user.disabled']);
  });

  it('that is gone for days gets each event ten times at most, and what came later; what was given up is kept for a week', async () => {
    const webhook = aWebhook();
    const { app, deps, happen, pass, receive, outcomes, taken } = await telling(webhook);
    receive(answers(500));
    await happen('disabled', 'enabled');
    await pass(76 * HOUR);
    const { failures } = await summarizeDeliveries(app.records, webhook.id);
    expect(failures.map(({ lastError }) => lastError)).toEqual(['500', '500']);
    expect(outcomes.filter((outcome) => outcome === 'given-up')).toHaveLength(2);
    // The second event is as old as the first, so it is tried once.
    expect(outcomes.filter((outcome) => outcome === 'failed')).toHaveLength(11);
    receive(answers(204));
    await happen('disabled');
    await pass(MINUTE);
    expect(taken.map(({ sequence }) => sequence)).toEqual([3]);
    const purge = () => purges({ ...deps, eventsRetention: DAY }).webhooks(100);
    expect(await purge()).toBe(0);
    app.clock.advance(DELIVERY_LIFETIME);
    expect(await purge()).toBe(2);
  });

  it('for which too much waits is told nothing more, and costs no further rows', async () => {
    const webhook = aWebhook();
    const { app, begin, happen, deps, outcomes, enabled } = await telling(webhook);
    const records = withDeliveries(app.records, () => 100_000);
    const beginFull = deliverWebhooks({ ...deps, records });
    const look = async () => {
      await beginFull();
      app.clock.advance(MINUTE);
      return outcomes;
    };
    expect(await look()).toEqual([]);
    expect(await look()).toEqual(['disabled']);
    expect(await enabled()).toBe(0);
    // After a replay, there is a minute for making them fewer.
    await look();
    await changeWebhook(app.records, webhook.id, { disabledAt: null });
    expect(await look()).toEqual(['disabled']);
    expect(await look()).toEqual(['disabled', 'disabled']);
    await happen('disabled');
    expect(await begin()).toEqual([]);
    expect(await waitingDeliveries(app.records)).toEqual({ count: 0, since: null });
  });

  it('for which too much waits, and that takes some of it each minute, is told the rest, unless it is twice as much', async () => {
    const { app, happen, deps, enabled } = await telling(aWebhook());
    let deliveries = 199_999;
    const begin = deliverWebhooks({ ...deps, records: withDeliveries(app.records, () => deliveries) });
    const pass = async () => {
      await happen('disabled');
      await Promise.all(await begin());
      app.clock.advance(MINUTE);
      return enabled();
    };
    for (let minute = 0; minute < 5; minute += 1) expect(await pass()).toBe(1);
    deliveries += 1;
    expect(await pass()).toBe(0);
  });

  it('for which too much waits is left to the instances that can sign, unless it is twice as much', async () => {
    const { app, deps, enabled } = await telling(aWebhook());
    let deliveries = 199_999;
    const records = withDeliveries(app.records, () => deliveries);
    const other = deliverWebhooks({ ...deps, records, senderFor: async () => null });
    const pass = async () => {
      await other();
      app.clock.advance(MINUTE);
      return enabled();
    };
    for (let minute = 0; minute < 3; minute += 1) expect(await pass()).toBe(1);
    deliveries += 1;
    expect(await pass()).toBe(0);
  });
});

it('retries by the table of Standard Webhooks, with a tenth more at most', () => {
  const delays = (random: number) =>
    Array.from({ length: 10 }, (_, at) =>
      webhookRetryDelay({ attempts: at + 1, createdAt: 0 }, { now: 0, random, retryAfter: 0 }),
    );
  const table = [5 * SECOND, 5 * MINUTE, HOUR / 2, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];
  expect(delays(0)).toEqual([...table, null]);
  expect(delays(1)).toEqual([...table.map((delay) => delay + delay / 10), null]);
});
