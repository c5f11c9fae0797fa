import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { memoryMailer } from '../../src/adapters/mailer/memory.ts';
import { bcryptPasswordHasher } from '../../src/adapters/password-hasher/bcrypt.ts';
import { openDatabase } from '../../src/infrastructure/database/database.ts';
import { refreshWith, signUp } from '../support/http/auth-http.ts';
import { aPerson, cookiePair, refreshCookieOf, startService } from '../support/http/service.ts';
import { receivedFrom } from '../support/mail/received.ts';
import { tokenIn } from '../support/mail/sender.ts';
import { openSmtpServer } from '../support/mail/smtp-server.ts';
import { runService } from '../support/processes/process.ts';
import { ask, postJson } from '../support/processes/sessions-under-load.ts';
import { canStartServers, postgresOfTheTests } from '../support/servers/of-the-tests.ts';
import { createDatabase, inTransaction, onPostgresql } from '../support/storage/databases.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const NEW_PASSWORD = 'a new correct horse';
/** Milliseconds; the time-out only catches hangs. */
const SOON = { timeout: 60_000, interval: 20 };
/** What waits for a lock, except for the sender of mail, which looks into the outbox now and then. */
const WAITING = `select pid from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and query not like '%skip locked%'`;
/** However slow the machine is, nothing is too late; only a hang is. */
const PATIENT = { REQUEST_TIMEOUT_MS: '600000', DATABASE_STATEMENT_TIMEOUT: '60s', EMAIL_VERIFICATION: 'off' };

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
    const service = await startService({ ...PATIENT, DATABASE_URL: url }, { mailer, hasher });
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

/** The tables in the order in which a reset needs them. */
const STEPS = ['links', 'users', 'events', 'sessions', 'outbox'];

describe.runIf(canStartServers()).each(STEPS)(
  'a process that is killed while its reset waits for table %s',
  (table) => {
    it('has changed nothing, and the link can be used', async () => {
      const { url, database, waiting } = await aDatabase();
      const smtp = await openSmtpServer();
      onTestFinished(smtp.close);
      const { path, remove } = temporaryDirectory();
      onTestFinished(remove);
      const env = {
        ...PATIENT,
        DATABASE_URL: url,
        DATA_DIR: path,
        MAIL_URL: `smtp://127.0.0.1:${smtp.port}`,
        MAIL_FROM: 'auth@example.org',
        BCRYPT_COST: '4',
      };
      const first = await runService(env);
      onTestFinished(async () => void (await first.stop('SIGKILL')));
      const person = aPerson();
      const { cookie } = await postJson(`${first.url}/auth/register`, person);
      await postJson(`${first.url}/auth/password-reset`, { email: person.email });
      await vi.waitFor(() => expect(smtp.messages).toHaveLength(1), SOON);
      const token = tokenIn(await receivedFrom(smtp.messages[0]?.raw ?? ''), 'password-reset');
      const confirm = (at: string) =>
        postJson(`${at}/auth/password-reset/confirm`, { token, newPassword: NEW_PASSWORD });

      await inTransaction(database, async (send) => {
        // Reads before the unit of work are let through.
        await send(`lock table ${table} in exclusive mode`);
        const cutOff = confirm(first.url).catch((error: unknown) => error);
        await vi.waitFor(async () => expect(await waiting()).toBe(1), SOON);
        await first.stop('SIGKILL');
        await cutOff;
      });

      const second = await runService(env);
      onTestFinished(async () => void (await second.stop()));
      const logIn = (password: string) => postJson(`${second.url}/auth/login`, { account: person.email, password });
      const refresh = (held = '') =>
        ask(`${second.url}/auth/refresh-token`, { method: 'POST', headers: { Cookie: held } });
      // PostgreSQL may still be ending the transaction of the killed process.
      await vi.waitFor(async () => expect(await waiting()).toBe(0), SOON);
      const refreshed = await refresh(cookie);
      expect(refreshed.status).toBe(200);
      expect((await logIn(person.password)).status).toBe(200);
      expect((await confirm(second.url)).status).toBe(200);
      expect((await confirm(second.url)).code).toBe('AUTH_LINK_INVALID');
      expect((await refresh(refreshed.cookie)).status).toBe(401);
      expect((await logIn(NEW_PASSWORD)).status).toBe(200);
    });
  },
);
