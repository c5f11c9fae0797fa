import { beforeEach, describe, expect, it } from 'vitest';
import { storageOver } from '../../../src/adapters/records/storage.ts';
import { register } from '../../../src/application/accounts/register.ts';
import { login } from '../../../src/application/login/login.ts';
import type { PlainLogin } from '../../../src/application/ports/session-repository.ts';
import { EVENTS_KEPT, type Origin } from '../../../src/domain/event.ts';
import { NOTICE_GROUPS, type NoticeGroup } from '../../../src/domain/event-table.ts';
import { SESSIONS_PER_USER } from '../../../src/domain/session.ts';
import type { User } from '../../../src/domain/user.ts';
import { ADA, application, MINUTE } from '../../support/application.ts';
import { anEvent, anId, aSession, aUser, aWebhook, NOW } from '../../support/builders.ts';
import { inTransaction, TEST_DATABASE_URL, twoOnPostgresql } from '../../support/storage/databases.ts';
import { type Database, removeAllRows } from '../../support/storage/open-database.ts';

const PREFIX = 'of_auth_';
const HOME: Origin = { userAgent: 'Browser/1.0', address: '192.0.2.0/24', requestId: 'a' };
const ELSEWHERE: Origin = { ...HOME, address: '198.51.100.0/24' };
const NONE: readonly NoticeGroup[] = [];

describe.runIf(TEST_DATABASE_URL !== undefined)('a log-in as one statement of PostgreSQL', () => {
  const [database, other] = twoOnPostgresql(PREFIX);
  const empty = () => removeAllRows(database(), PREFIX);
  beforeEach(empty);

  /** The service over the database, as an instance has it. @param isAtOnce whether its log-ins may be one statement */
  const instance = (of: () => Database, notices: readonly NoticeGroup[], isAtOnce = true) => {
    const { records, withFasterMethods: faster } = of();
    const { sessions: plain, ...stores } = storageOver(records);
    const { addLogin, ...sessions } = faster(plain);
    const answers: boolean[] = [];
    const storing = async (given: PlainLogin) => {
      const isStored = await addLogin?.(given);
      answers.push(isStored ?? false);
      return isStored ?? false;
    };
    const ports = { ...application(), ...stores, mailNotices: new Set(notices), ids: { next: anId } };
    const deps = { ...ports, sessions: isAtOnce ? { ...sessions, addLogin: storing } : sessions };
    const logIn = (origin = HOME) => login(deps)({ account: 'Ada', password: ADA.password, origin });
    return { records, logIn, register: () => register(deps)({ ...ADA, origin: HOME }), clock: deps.clock, answers };
  };
  type Instance = ReturnType<typeof instance>;

  /** What is stored beside the users, with the same names for all ids. */
  const stored = async (): Promise<string> => {
    const { records } = database();
    const rows = [];
    for (const table of ['sessions', 'events', 'deliveries', 'endedSessions', 'outbox'] as const)
      rows.push(...(await records.list(table, { order: [table === 'deliveries' ? 'webhookId' : 'id'] } as object)));
    const ids = new Map<string, string>();
    const named = (id: string) => ids.get(id) ?? (ids.set(id, `id ${ids.size}`).get(id) as string);
    const texts = rows.map(({ version: _version, ...row }) => JSON.stringify(row));
    return texts.join('\n').replaceAll(/[0-9A-HJKMNP-TV-Z]{26}/g, named);
  };

  type Scenario = {
    readonly name: string;
    readonly isAtOnce: boolean;
    readonly notices?: readonly NoticeGroup[];
    readonly before?: (given: Instance, user: User) => Promise<unknown>;
    readonly origin?: Origin;
  };
  const SCENARIOS: readonly Scenario[] = [
    { name: 'the first one on a device', isAtOnce: true, origin: ELSEWHERE },
    { name: 'one that is counted with others', isAtOnce: true, before: ({ logIn }) => logIn() },
    {
      ...{ name: 'one that is counted anew, after the hour', isAtOnce: true },
      before: async ({ logIn, clock }) => logIn().then(() => clock.advance(61 * MINUTE)),
    },
    { name: 'one on a known device, with notices', isAtOnce: true, notices: NOTICE_GROUPS },
    { name: 'one on an unknown device, with notices', isAtOnce: false, notices: NOTICE_GROUPS, origin: ELSEWHERE },
    {
      ...{ name: 'one after many that were refused', isAtOnce: false, notices: NOTICE_GROUPS },
      before: ({ records, clock }, { id }) =>
        records.insert('events', {
          ...anEvent({ userId: id, kind: 'login-refused', at: clock.now(), count: 10 }),
          ...{ device: null, countedBy: 'refused' },
        }),
    },
    {
      ...{ name: 'one that a webhook is told of', isAtOnce: false },
      before: ({ records }) => records.insert('webhooks', aWebhook()),
    },
    {
      ...{ name: 'one that evicts a session', isAtOnce: false },
      before: async ({ records, clock }, { id: userId }) => {
        for (let count = 1; count < SESSIONS_PER_USER; count += 1) {
          const session = aSession({ userId, rotatedAt: clock.now() - count });
          await records.insert('sessions', { ...session, purgeCheckAt: session.expiresAt });
        }
      },
    },
    {
      ...{ name: 'one after which there are too many events', isAtOnce: false, origin: ELSEWHERE },
      before: (_given, { id }) =>
        database().em.execute(`insert into ${PREFIX}events (user_id, id, kind, at, count, version)
          select '${id}', lpad(n::text, 26, '0'), 'disabled', n, 1, 1 from generate_series(1, ${EVENTS_KEPT + 100}) n`),
    },
  ];

  it.each(SCENARIOS)('stores what a transaction stores, or leaves it to one: $name', async (scenario) => {
    const { isAtOnce, notices = NONE, before, origin } = scenario;
    const contents: string[] = [];
    const answers: boolean[] = [];
    for (const mayBeAtOnce of [false, true]) {
      await empty();
      const plain = instance(database, notices, false);
      const { user } = await plain.register();
      await before?.(plain, { ...aUser(), ...user });
      const tried = instance(database, notices, mayBeAtOnce);
      tried.clock.advance(plain.clock.now() - tried.clock.now());
      await tried.logIn(origin);
      contents.push(await stored());
      answers.push(...tried.answers);
    }
    expect(answers).toEqual([isAtOnce]);
    expect(contents[1]).toBe(contents[0]);
  });

  describe('of a user who is not as expected', () => {
    const loginOf = (user: User): PlainLogin => {
      const session = aSession({ userId: user.id });
      const event = anEvent({ userId: user.id, kind: 'logged-in', sessionId: session.id });
      return { user, session, event: { ...event, device: 'of home', countedBy: 'here' }, notice: null };
    };
    const addLogin = (given: PlainLogin) => {
      const { records, withFasterMethods: faster } = database();
      return faster(storageOver(records).sessions).addLogin?.(given);
    };
    const add = async () => {
      const user = aUser({ passwordChangedAt: NOW, emailVerifiedAt: NOW });
      await storageOver(database().records).users.add(user);
      return user;
    };

    it('is stored while nothing has changed', async () => {
      expect(await addLogin(loginOf(await add()))).toBe(true);
    });

    it.each([
      ['whose password has changed', { passwordChangedAt: NOW - 1 }],
      ['who is no longer disabled', { disabledAt: NOW }],
      ['whose address was verified since', { emailVerifiedAt: null }],
      ['who has a second factor no more', { secondFactorAt: NOW }],
      ['who is gone', { id: 'nobody' }],
    ])('is not stored: %s', async (_what, change) => {
      const user = await add();
      expect(await addLogin(loginOf({ ...user, ...change }))).toBe(false);
      expect(await stored()).toBe('');
    });

    it('is not stored, and does not wait, while a transaction has locked the user', async () => {
      const user = await add();
      await inTransaction(other(), async (send) => {
        await send(`select id from ${PREFIX}users where id = $1 for no key update`, [user.id]);
        expect(await addLogin(loginOf(user))).toBe(false);
      });
      expect(await stored()).toBe('');
    });
  });

  it('counts each of many that come to two instances at once, and stores each session', async () => {
    const [here, there] = [instance(database, NONE), instance(other, NONE)];
    await here.register();
    await Promise.all(Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? here : there).logIn()));
    const { records } = database();
    const events = await records.list('events', { order: ['at'] });
    const counted = events.filter(({ kind }) => kind === 'logged-in');
    expect(counted.map(({ count }) => count)).toEqual([20]);
    expect(await records.list('sessions', { order: ['id'] })).toHaveLength(21);
  });
});
