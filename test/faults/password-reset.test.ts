import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { memoryMailer } from '../../src/adapters/mailer/memory.ts';
import { bcryptPasswordHasher } from '../../src/adapters/password-hasher/bcrypt.ts';
import { LINK_SPACING } from '../../src/domain/link.ts';
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

  it('after they have ended, and comes back: it succeeds, and ends one that the old password opened meanwhile', async () => {
    const account = await accountAt(service.url());
    const token = await tokenFor(account);
    let opened: string | undefined;
    const answer = await service.interrupt(
      'outbox',
      () => confirm(token),
      async () => {
        opened = (await logIn(account, account.password)).cookie;
        await service.kill('redis');
        await service.restart('redis');
      },
    );
    expect(opened).toBeDefined();
    expect(answer?.status).toBe(200);
    await assertReset(account, [account.cookie, opened]);
  });

  it('after they have ended, and stays away: it fails, and a new link ends one that the old password opened', async () => {
    const account = await accountAt(service.url());
    const token = await tokenFor(account);
    let opened: string | undefined;
    const answer = await service.interrupt(
      'outbox',
      () => confirm(token),
      async () => {
        opened = (await logIn(account, account.password)).cookie;
        await service.kill('redis');
      },
    );
    expect(opened).toBeDefined();
    expect(answer?.code).toBe('DB_QUERY_FAILED');
    await service.restart('redis');
    // The password was changed: a link works once.
    expect((await confirm(token)).code).toBe('AUTH_LINK_INVALID');
    expect((await logIn(account, account.password)).code).toBe('AUTH_CREDENTIALS_INVALID');
    // As after the time that has to pass until another link is sent.
    const asked = "user_id = ? and kind = 'password-reset-requested'";
    await service.query(`update events set at = at - ${LINK_SPACING} where ${asked}`, [account.id]);
    expect((await confirm(await tokenFor(account))).status).toBe(200);
    await assertReset(account, [account.cookie, opened]);
  });
});
