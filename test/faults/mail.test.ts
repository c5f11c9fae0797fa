import { createRequire } from 'node:module';
import { expect, it, vi } from 'vitest';
import { aPerson, startService } from '../support/http/service.ts';
import { memoryMailer } from '../support/mail/memory-mailer.ts';
import { openSmtpServer } from '../support/mail/smtp-server.ts';
import { runService } from '../support/processes/process.ts';
import { postJson } from '../support/processes/sessions-under-load.ts';
import { canStartServers, postgresOfTheTests } from '../support/servers/of-the-tests.ts';
import { createDatabase, onPostgresql } from '../support/storage/databases.ts';
import { openDatabase } from '../support/storage/open-database.ts';

/** The driver, which has no types. */
const pg: { readonly Client: { readonly prototype: { query(...given: unknown[]): unknown } } } = createRequire(
  import.meta.url,
)('pg');

const environment = (database: string, port: number) => ({
  DATABASE_URL: database,
  MAIL_URL: `smtp://127.0.0.1:${port}`,
  MAIL_FROM: 'auth@example.org',
  EMAIL_VERIFICATION: 'off',
  BCRYPT_COST: '4',
});

/** Registers somebody who then asks for a link. */
const askAt = async (url: string) => {
  const person = aPerson();
  expect((await postJson(`${url}/auth/register`, person)).status).toBe(201);
  expect((await postJson(`${url}/auth/password-reset`, { email: person.email })).status).toBe(202);
  return person;
};

it.runIf(canStartServers())('mail does not keep a process from stopping', async () => {
  const reached = Promise.withResolvers<void>();
  const hanging = await openSmtpServer({ onData: () => reached.resolve(), closeTimeout: 0 });
  const { url } = await createDatabase(postgresOfTheTests() ?? '');
  const service = await runService(environment(url, hanging.port));
  await askAt(service.url);
  await reached.promise;
  expect(await service.stop()).toEqual({ code: 0, signal: null });
  // The message was put back: it is tried again after seconds, not after the lease.
  expect(service.stdout.join('\n')).toContain('a mail could not be sent and is tried again');
});

it.runIf(canStartServers())(
  'a request for a link sends the same statements for an address with an account and for one without',
  async () => {
    const { url: database } = await createDatabase(postgresOfTheTests() ?? '');
    // Before there are connections, which take the method with them.
    const query = vi.spyOn(pg.Client.prototype, 'query');
    const service = await startService(
      { DATABASE_URL: database, EMAIL_VERIFICATION: 'off' },
      { mailer: memoryMailer() },
    );
    const person = aPerson();
    await service.http.post('/auth/register').send(person).expect(201);
    const statementsFor = async (email: string): Promise<string[]> => {
      query.mockClear();
      await service.http.post('/auth/password-reset').send({ email }).expect(202);
      return query.mock.calls.map(([given]) => {
        return typeof given === 'string' ? given : String(Reflect.get(Object(given), 'text'));
      });
    };
    const sent = await statementsFor(person.email);
    expect(sent.at(-1)).toMatch(/^insert into "outbox"/);
    expect(sent.join('\n')).not.toMatch(/users/);
    expect(await statementsFor(aPerson().email)).toEqual(sent);
    // Asked again, while the first request waits, whether or not it has an account.
    expect(await statementsFor(person.email)).toEqual(sent.slice(0, -1));
    const { em } = await openDatabase(onPostgresql(database), { migrate: false });
    expect(await em.execute('select count(*)::int as waiting from outbox')).toEqual([{ waiting: 2 }]);
  },
);
