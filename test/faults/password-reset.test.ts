import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { refreshWith, signUp } from '../support/http/auth-http.ts';
import { cookiePair, hasher, refreshCookieOf, startService } from '../support/http/service.ts';
import { memoryMailer } from '../support/mail/memory-mailer.ts';
import { tokenIn } from '../support/mail/sender.ts';
import { LONG_TIMEOUTS, SOON } from '../support/processes/killable-service.ts';
import { canStartServers, postgresOfTheTests } from '../support/servers/of-the-tests.ts';
import { createDatabase, inTransaction, onPostgresql } from '../support/storage/databases.ts';
import { openDatabase } from '../support/storage/open-database.ts';

const NEW_PASSWORD = 'a new correct horse';
/** What waits for a lock, except for the sender of mail, which polls the outbox. */
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
    const service = await startService(
      { ...LONG_TIMEOUTS, EMAIL_VERIFICATION: 'off', DATABASE_URL: url },
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
    const service = await startService({ ...LONG_TIMEOUTS, EMAIL_VERIFICATION: 'off', DATABASE_URL: url }, { mailer });
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
