import { describe, expect, it, vi } from 'vitest';
import { passwordHasher } from '../../src/adapters/crypto/password-hasher.ts';
import { secretsWith } from '../../src/adapters/crypto/secrets.ts';
import { storageOver } from '../../src/adapters/records/storage.ts';
import { resetPassword } from '../../src/application/accounts/mail-links.ts';
import { withdrawLinks } from '../../src/application/links.ts';
import { loadMailWriter, prepareMail } from '../../src/application/mail/send-messages.ts';
import { endSession, endSessionsOf, logout } from '../../src/application/sessions/end-sessions.ts';
import { linksOf, putLink } from '../../src/application/storage/credentials.ts';
import { addMessages } from '../../src/application/storage/outbox.ts';
import type { Stores, Transactions } from '../../src/application/storage/records.ts';
import type { TableName } from '../../src/application/storage/tables.ts';
import {
  deleteWebhook,
  hasDeliveries,
  purgeDeliveries,
  waitingDeliveries,
} from '../../src/application/storage/webhooks.ts';
import { NO_ORIGIN } from '../../src/domain/event.ts';
import { SESSIONS_PER_USER } from '../../src/domain/session.ts';
import { MAIL_FILES } from '../../src/infrastructure/template-files.ts';
import { application } from '../support/application.ts';
import { aLink, aMessage, anEvent, aSession, aUser, aWebhook, NOW } from '../support/builders.ts';
import { plainPasswordHasher, plainTokenSigner } from '../support/fakes.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { signUp } from '../support/http/auth-http.ts';
import { startService } from '../support/http/service.ts';
import { testKeyPair } from '../support/keys.ts';
import { LONG_TIMEOUTS, SOON } from '../support/processes/service-on-postgres.ts';
import { atCall } from '../support/records/at-call.ts';
import { sequentialIds } from '../support/sequential-ids.ts';
import {
  createDatabase,
  inTransaction,
  onPostgresql,
  openOnPostgresql,
  TEST_DATABASE_URL,
  waitingIn,
} from '../support/storage/databases.ts';
import { openDatabase } from '../support/storage/open-database.ts';
import { storeEvents } from '../support/stored-events.ts';

const secrets = secretsWith({ signing: testKeyPair().privateKey, factors: null });
const ENDING = { reason: 'logout', origin: NO_ORIGIN } as const;
const MAIL_CONTEXT = {
  brand: 'test',
  defaultLocale: 'en',
  pagesUrl: 'https://auth.example.org/account',
  codePage: 'https://auth.example.org/code',
  templates: MAIL_FILES.builtIn,
};

const RECORDING = { clock: fixedClock(NOW), ids: sequentialIds(), secrets };
const ASSESSING = {
  tokens: plainTokenSigner(),
  ...{ jwtRefreshRaceWindow: 10_000, jwtRefreshReplayWindow: 0 },
  deviceBinding: 'enforce' as const,
};
const PREPARING = { ...RECORDING, mailContext: MAIL_CONTEXT };
const writing = await loadMailWriter(PREPARING);

type Work = (stores: Stores) => Promise<unknown>;

/** Stores on PostgreSQL with a user, and transactions that count how often they are run: again after a deadlock. */
const setUp = async () => {
  const database = await openOnPostgresql(TEST_DATABASE_URL ?? '');
  const { transactions: unit, ...stores } = storageOver(database.records);
  const user = aUser();
  await stores.users.add(user);
  let runs = 0;
  const transactions: Transactions = {
    run: (work) =>
      unit.run((inside) => {
        runs += 1;
        return work(inside);
      }),
  };
  /** Begins `second` when `first` has stopped, and lets `first` go on when `second` waits for it. @returns both results. */
  const interleave = async (first: (stop: () => Promise<void>) => Promise<unknown>, second: () => Promise<unknown>) => {
    const [reached, going] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const stop = () => {
      reached.resolve();
      return going.promise;
    };
    const begun = first(stop);
    await Promise.race([reached.promise, begun]);
    const later = second();
    const waits = vi.waitFor(async () => expect(await waitingIn(database)).toBe(1), SOON);
    await Promise.race([waits, later]);
    going.resolve();
    return Promise.all([begun, later]);
  };
  /** The same with the work of two transactions. */
  const interleaved = (first: (stop: () => Promise<void>) => Work, second: Work) =>
    interleave(
      (stop) => transactions.run(first(stop)),
      () => transactions.run(second),
    );
  return { stores, user, transactions, interleave, interleaved, runs: () => runs };
};

const resetting = (stores: Stores, transactions: Transactions) =>
  resetPassword({
    ...application(),
    ...stores,
    ...PREPARING,
    ...ASSESSING,
    transactions,
    hasher: plainPasswordHasher(),
    isCommonPassword: null,
  });

/** The same stores, which stop after a call. */
const stoppingAfter = (
  stores: Stores,
  at: readonly ['replace' | 'remove', TableName],
  stop: () => Promise<void>,
): Stores => ({
  ...stores,
  records: atCall(stores.records, at as readonly ['replace', TableName], async (call) => {
    const result = await call();
    await stop();
    return result;
  }),
});

describe.runIf(TEST_DATABASE_URL !== undefined)(
  'two transactions about one user, neither of which blocks the other',
  () => {
    it('end one session, and all', async () => {
      const { stores, user, interleaved, runs } = await setUp();
      const [one, other] = [aSession({ userId: user.id }), aSession({ userId: user.id })];
      for (const session of [one, other]) await stores.sessions.add(session);
      const endOne =
        (stop: () => Promise<void>): Work =>
        (inside) => {
          const end = async (key: typeof one) => {
            const ended = await inside.sessions.end(key);
            await stop();
            return ended;
          };
          return endSession(RECORDING, { ...inside, sessions: { ...inside.sessions, end } }, one, ENDING);
        };
      const results = await interleaved(endOne, (inside) => endSessionsOf(RECORDING, inside, user.id, ENDING));
      expect(results).toEqual([true, 1]);
      expect(runs()).toBe(2);
    });

    it('log out with the same tokens in another order', async () => {
      const { stores, user, transactions, interleave, runs } = await setUp();
      const sessions = [aSession({ userId: user.id }), aSession({ userId: user.id })];
      for (const session of sessions) await stores.sessions.add(session);
      const tokens = plainTokenSigner();
      const signed = sessions.map(({ id: sessionId, currentTokenId: jti, rotation }) => {
        const claims = { sub: user.id, jti, iat: NOW / 1000, exp: NOW / 1000 + 60, tokenType: 'refresh' as const };
        return tokens.signRefresh({ claims, sessionId, rotation });
      });
      const presented = await Promise.all(signed);
      const deps = { ...application(), ...RECORDING, ...ASSESSING, tokens };
      const stoppingAfterAnEnd = (stop: () => Promise<void>): Transactions => ({
        run: (work) =>
          transactions.run((inside) => {
            const end: typeof inside.sessions.end = (key) => inside.sessions.end(key).finally(stop);
            return work({ ...inside, sessions: { ...inside.sessions, end } });
          }),
      });
      await interleave(
        (stop) => logout({ ...deps, transactions: stoppingAfterAnEnd(stop) })(presented),
        () => logout({ ...deps, transactions })(presented.toReversed()),
      );
      expect(runs()).toBe(2);
      expect(await stores.sessions.listByUser(user.id, NOW)).toEqual([]);
    });

    it('change the password and end all sessions, and log in beside many sessions', async () => {
      const { stores, user, interleaved, runs } = await setUp();
      for (let count = 1; count < SESSIONS_PER_USER; count += 1)
        await stores.sessions.add(aSession({ userId: user.id }));
      // The event locks the user a little, as the first of several sessions does; the one beside many others locks more.
      const logIn =
        (stop: () => Promise<void>): Work =>
        async (inside) => {
          await storeEvents(inside, [anEvent({ userId: user.id })]);
          await stop();
          await inside.sessions.add(aSession({ userId: user.id }));
        };
      const change: Work = async (inside) => {
        await inside.users.setPasswordHash(user.id, { passwordHash: 'new', isOfNewPassword: true, now: NOW });
        return endSessionsOf(RECORDING, inside, user.id, ENDING);
      };
      const [, ended] = await interleaved(logIn, change);
      expect(ended).toBe(SESSIONS_PER_USER);
      expect(runs()).toBe(2);
    });

    it('prepare a mail with a link, and reset the password, which makes such links invalid', async () => {
      const { stores, user, transactions, interleave, runs } = await setUp();
      const token = secrets.random();
      await putLink(stores.records, aLink({ userId: user.id, email: user.email, tokenHash: secrets.hashOf(token) }));
      const message = aMessage({ kind: 'email-change', userId: user.id, to: 'new@example.org' });
      await addMessages(stores, [message]);
      const prepare =
        (stop: () => Promise<void>): Work =>
        (inside) =>
          prepareMail(PREPARING, stoppingAfter(inside, ['replace', 'outbox'], stop), message, writing);
      const [mail] = await interleave(
        (stop) => transactions.run(prepare(stop)),
        () => resetting(stores, transactions)({ token, newPassword: 'a new correct horse' }),
      );
      expect(mail).toMatchObject({ to: 'new@example.org' });
      expect(await linksOf(stores.records, user.id, NOW)).toEqual([]);
      expect(runs()).toBe(2);
    });

    it('change the address, and answer a request for a link to the former one, with nothing', async () => {
      const { stores, user, interleaved, runs } = await setUp();
      const request = aMessage({ kind: 'password-reset-request', userId: null, to: user.email });
      await addMessages(stores, [request]);
      const change =
        (stop: () => Promise<void>): Work =>
        async (inside) => {
          await inside.users.update(user.id, { email: 'new@example.org', now: NOW });
          await stop();
        };
      const [, mail] = await interleaved(change, (inside) => prepareMail(PREPARING, inside, request, writing));
      expect(mail).toBeNull();
      expect(await linksOf(stores.records, user.id, NOW)).toEqual([]);
      expect(runs()).toBe(2);
    });

    it('reset the password, and withdraw the link that does', async () => {
      const { stores, user, transactions, interleave, runs } = await setUp();
      const token = secrets.random();
      await putLink(stores.records, aLink({ userId: user.id, email: user.email, tokenHash: secrets.hashOf(token) }));
      const stopping = (stop: () => Promise<void>): Transactions => ({
        run: (work) => transactions.run((inside) => work(stoppingAfter(inside, ['remove', 'links'], stop))),
      });
      await interleave(
        (stop) => resetting(stores, stopping(stop))({ token, newPassword: 'a new correct horse' }),
        () =>
          transactions.run(async (inside) => {
            await inside.users.lock(user.id);
            await withdrawLinks(inside, user.id, ['password-reset']);
          }),
      );
      expect((await stores.users.findById(user.id))?.passwordChangedAt).toBe(NOW);
      expect(runs()).toBe(2);
    });
  },
);

describe.runIf(TEST_DATABASE_URL !== undefined)('two transactions about webhooks', () => {
  it('end all sessions, and purge what webhooks were not told of', async () => {
    const { stores, user, interleaved, runs } = await setUp();
    await stores.records.insert('webhooks', aWebhook());
    const other = aUser();
    await stores.users.add(other);
    const [first, second] = [user.id, other.id].toSorted();
    const tell = (stores: Stores, userId = '', at = NOW) => storeEvents(stores, [anEvent({ userId, at })]);
    await tell(stores, first, NOW - 1);
    await tell(stores, second, NOW - 2);
    const endAll =
      (stop: () => Promise<void>): Work =>
      async (inside) => {
        for (const id of [first, second]) await inside.users.lock(id ?? '');
        await tell(inside, first);
        await stop();
        await tell(inside, second);
      };
    const [, purged] = await interleaved(endAll, (inside) => purgeDeliveries(inside, NOW, 9, NOW));
    expect(purged).toBe(2);
    expect(runs()).toBe(2);
  });

  it('store an event that has waited for its user, and add a webhook meanwhile: it is kept for that one', async () => {
    const { stores, user, interleaved } = await setUp();
    const [isWaiting, isAdded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const adding = isWaiting.promise.then(() => stores.records.insert('webhooks', aWebhook())).then(isAdded.resolve);
    await interleaved(
      (stop) =>
        async ({ users }) => {
          await users.lock(user.id);
          await stop();
          isWaiting.resolve();
          await isAdded.promise;
        },
      (inside) => storeEvents(inside, [anEvent({ userId: user.id })]),
    );
    await adding;
    expect(await waitingDeliveries(stores.records)).toMatchObject({ count: 1 });
  });

  it('store an event, and remove its webhook: the next purge removes what is left of it', async () => {
    const { stores, user, transactions, interleave } = await setUp();
    const [kept, removed] = [aWebhook(), aWebhook()];
    for (const each of [kept, removed]) await stores.records.insert('webhooks', each);
    await interleave(
      (stop) => transactions.run((inside) => storeEvents(inside, [anEvent({ userId: user.id })]).finally(stop)),
      () => deleteWebhook(stores.records, removed.id),
    );
    expect(await waitingDeliveries(stores.records)).toMatchObject({ count: 2 });
    await transactions.run((inside) => purgeDeliveries(inside, NOW, 9, NOW));
    expect(await waitingDeliveries(stores.records)).toMatchObject({ count: 1 });
    expect(await hasDeliveries(stores.records, kept.id, 1)).toBe(true);
  });
});

it.runIf(TEST_DATABASE_URL !== undefined)(
  'a change of the password among log-ins that never stop waits for those that were there before it, and for none that came later',
  async () => {
    const { url } = await createDatabase(TEST_DATABASE_URL ?? '');
    const database = await openDatabase(onPostgresql(url), { migrate: true });
    const hasher = passwordHasher({ cost: 4 });
    const service = await startService({ ...LONG_TIMEOUTS, DATABASE_URL: url }, { hasher });
    const { person, accessToken } = await signUp(service);
    const { username: account, password } = person;
    // In one instance, log-ins of a user wait for each other before they use the database.
    const another = await startService({ ...LONG_TIMEOUTS, DATABASE_URL: url }, { hasher });
    const logInAt = ({ http }: typeof service) => http.post('/auth/login').send({ account, password }).then();
    const change = () =>
      service.http
        .put('/users/me/password')
        .set('Authorization', `Bearer ${accessToken}`)
        .send({ currentPassword: password, newPassword: 'a new correct horse' })
        .then();
    const untilWaiting = (count: number) => vi.waitFor(async () => expect(await waitingIn(database)).toBe(count), SOON);

    const answers = await inTransaction(database, async (send) => {
      await send('select id from users for no key update');
      const before = logInAt(service);
      await untilWaiting(1);
      const changed = change();
      await untilWaiting(2);
      const later = logInAt(another);
      await untilWaiting(3);
      return [before, changed, later];
    });
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 401]);
  },
);
