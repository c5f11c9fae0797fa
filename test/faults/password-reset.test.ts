import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { memoryMailer } from '../../src/adapters/mailer/memory.ts';
import { bcryptPasswordHasher } from '../../src/adapters/password-hasher/bcrypt.ts';
import { openDatabase } from '../../src/infrastructure/database/database.ts';
import { refreshWith, signUp } from '../support/http/auth-http.ts';
import { cookiePair, refreshCookieOf, startService } from '../support/http/service.ts';
import { tokenIn } from '../support/mail/sender.ts';
import {
  type Account,
  accountAt,
  type KillableService,
  PATIENT,
  SOON,
  startKillable,
} from '../support/processes/killable-service.ts';
import { ask, postJson } from '../support/processes/sessions-under-load.ts';
import { canStartServers, postgresOfTheTests } from '../support/servers/of-the-tests.ts';
import { createDatabase, inTransaction, onPostgresql } from '../support/storage/databases.ts';

const NEW_PASSWORD = 'a new correct horse';
/** What waits for a lock, except for the sender of mail, which looks into the outbox now and then. */
const WAITING = `select pid from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and query not like '%skip locked%'`;

const aDatabase = async () => {
  const { url, drop } = await createDatabase(postgresOfTheTests() ?? '');
  onTestFinished(drop);
  const migrated = await openDatabase(onPostgresql(url), { migrate: true });
  onTestFinished(migrated.close);
  const waiting = async () => (await migrated.em.execute(WAITING)).length;
  return { url, database: migrated, waiting };
};

describe.runIf(canStartServers())('a reset of the password that is not committed yet', () => {
  it('makes a log-in with the old password wait, which then fails', async () => {
    const { url, database, waiting } = await aDatabase();
    const mailer = memoryMailer();
    const hasher = bcryptPasswordHasher({ cost: 4 });
    const service = await startService(
      { ...PATIENT, EMAIL_VERIFICATION: 'off', DATABASE_URL: url },
      { mailer, hasher },
    );
    onTestFinished(service.close);
    const { person } = await signUp(service);
    await service.http.post('/auth/password-reset').send({ email: person.email }).expect(202);
    await Promise.all((await service.mail?.send(10)) ?? []);
    const token = tokenIn(mailer.mails[0] ?? { text: '' }, 'password-reset');

    const { reset, logIn } = await inTransaction(database, async (send) => {
      // The reset needs this table after it has ended the sessions.
      await send('lock table outbox in access exclusive mode');
      const confirmation = { token, newPassword: NEW_PASSWORD };
      const reset = service.http.post('/auth/password-reset/confirm').send(confirmation).then();
      await vi.waitFor(async () => expect(await waiting()).toBe(1), SOON);
      const credentials = { account: person.username, password: person.password };
      let isLoggedIn = false;
      const logIn = service.http
        .post('/auth/login')
        .send(credentials)
        .then((answer) => {
          isLoggedIn = true;
          return answer;
        });
      await vi.waitFor(async () => expect(isLoggedIn || (await waiting()) > 1).toBe(true), SOON);
      return { reset, logIn };
    });

    expect((await reset).status).toBe(200);
    const answer = await logIn;
    const cookie = cookiePair(refreshCookieOf(answer));
    if (answer.status === 200) await refreshWith(service, cookie).expect(401);
    expect(answer.status).toBe(401);
  });
});

describe.runIf(canStartServers())('a request for a link that is being answered', () => {
  it('does not delay the next one for the address, which is answered with nothing', async () => {
    const { url, database, waiting } = await aDatabase();
    const mailer = memoryMailer();
    const service = await startService({ ...PATIENT, EMAIL_VERIFICATION: 'off', DATABASE_URL: url }, { mailer });
    onTestFinished(service.close);
    const { person } = await signUp(service);
    const ask = () => service.http.post('/auth/password-reset').send({ email: person.email }).expect(202).then();
    const answer = async () => (await service.mail?.send(10)) ?? [];

    const attempts = await inTransaction(database, async (send) => {
      // An answer needs this table after it has named the user of the request.
      await send('lock table links in exclusive mode');
      await ask();
      const first = await answer();
      await vi.waitFor(async () => expect(await waiting()).toBe(1), SOON);
      const second = ask();
      const waits = vi.waitFor(async () => expect(await waiting()).toBe(2), SOON).then(() => 'waits');
      expect(await Promise.race([second.then(() => 'answered'), waits])).toBe('answered');
      const next = await answer();
      await vi.waitFor(async () => expect(await waiting()).toBe(2), SOON);
      return [...first, ...next];
    });
    await Promise.all(attempts);
    expect(attempts).toHaveLength(2);
    expect(mailer.mails.map(({ to }) => to)).toEqual([person.email]);
    const token = tokenIn(mailer.mails[0] ?? { text: '' }, 'password-reset');
    await service.http.post('/auth/password-reset/confirm').send({ token, newPassword: NEW_PASSWORD }).expect(200);
  });
});

describe.runIf(canStartServers())('a reset of the password with sessions in a Redis that is killed', () => {
  let service: KillableService;
  beforeAll(async () => {
    service = await startKillable({ SESSION_STORE: 'redis' });
  });
  afterAll(() => service?.close());

  const post = (path: string, body: object) => postJson(service.url() + path, body);
  const logIn = ({ email: account }: Account, password: string) => post('/auth/login', { account, password });
  const refresh = (cookie = '') =>
    ask(`${service.url()}/auth/refresh-token`, { method: 'POST', headers: { Cookie: cookie } });
  const confirm = (token: string) => post('/auth/password-reset/confirm', { token, newPassword: NEW_PASSWORD });
  const tokenFor = async ({ email }: Account): Promise<string> => {
    expect((await post('/auth/password-reset', { email })).status).toBe(202);
    await service.untilSent();
    const mails = await service.mailsTo(email);
    const mail = mails.findLast(({ text }) => text.includes('/password-reset#token='));
    return tokenIn(mail ?? { text: '' }, 'password-reset');
  };
  const assertReset = async (account: Account, cookies: readonly (string | undefined)[]) => {
    for (const cookie of cookies) expect((await refresh(cookie)).code).toBe('AUTH_FAILED');
    expect((await logIn(account, account.password)).code).toBe('AUTH_CREDENTIALS_INVALID');
    expect((await logIn(account, NEW_PASSWORD)).status).toBe(200);
  };

  it('before they end: it fails, changes nothing, and the link can be used', async () => {
    const account = await accountAt(service.url());
    const token = await tokenFor(account);
    const before = await service.aboutUser(account.id);
    // The reset needs this table before it ends the sessions.
    const answer = await service.interrupt(
      'events',
      () => confirm(token),
      () => service.kill('redis'),
    );
    expect(answer?.code).toBe('DB_QUERY_FAILED');
    expect(await service.aboutUser(account.id)).toEqual(before);
    await service.restart('redis');
    const { cookie } = await refresh(account.cookie);
    expect((await confirm(token)).status).toBe(200);
    await assertReset(account, [cookie]);
  });

  it('after they have ended: it succeeds, and a log-in with the old password waits for it and fails', async () => {
    const account = await accountAt(service.url());
    const token = await tokenFor(account);
    let opening: ReturnType<typeof logIn> | undefined;
    const answer = await service.interrupt(
      'outbox',
      () => confirm(token),
      async () => {
        opening = logIn(account, account.password);
        const arrived = await Promise.race([opening, service.untilUserIsWaitedFor()]);
        expect(arrived).toBeUndefined();
        await service.kill('redis');
      },
    );
    expect(answer?.status).toBe(200);
    expect((await opening)?.cookie).toBeUndefined();
    await service.restart('redis');
    await assertReset(account, [account.cookie]);
  });
});
