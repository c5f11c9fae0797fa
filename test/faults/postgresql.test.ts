// Proves ASVS 16.5.2; flood-10
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { aPerson } from '../support/http/service.ts';
import { type RunningService, runService } from '../support/processes/process.ts';
import { ask, type Holder, postJson, refreshAllAt, signUpAt } from '../support/processes/sessions-under-load.ts';
import { canStartServers, startPostgres } from '../support/servers/of-the-tests.ts';
import type { TestServer } from '../support/servers/server.ts';

/** Milliseconds; the time-out only catches hangs. */
const RECOVERY = { timeout: 60_000, interval: 100 };

const ORIGIN = 'https://auth.example.org';

/** A browser without a script that sends the log-in form, and goes where it is sent. @returns the answer there. */
const logInByForm = async (url: string, account: string, password: string) => {
  const body = new URLSearchParams({ account, password });
  const sent = await fetch(`${url}/auth/log-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { Origin: ORIGIN },
    body,
  });
  expect(sent.status).toBe(303);
  const cookies = sent.headers.getSetCookie().map((line) => line.split(';')[0]);
  return pageAt(url + sent.headers.get('Location'), cookies.join('; '));
};

const pageAt = async (address: string, cookie: string) => {
  const response = await fetch(address, { headers: { Cookie: cookie, 'Sec-Fetch-Dest': 'document' } });
  return { status: response.status, path: new URL(response.url).pathname, text: await response.text() };
};

const FAULTS: Readonly<
  Record<string, { strike: (postgres: TestServer) => Promise<void>; mend: (postgres: TestServer) => Promise<void> }>
> = {
  killed: { strike: (postgres) => postgres.kill(), mend: (postgres) => postgres.restart() },
  frozen: { strike: async (postgres) => postgres.freeze(), mend: async (postgres) => postgres.thaw() },
};

describe.runIf(canStartServers()).each(Object.entries(FAULTS))('while PostgreSQL is %s', (_fault, { strike, mend }) => {
  let postgres: TestServer;
  let service: RunningService;
  let holders: readonly Holder[];
  const registered: ReturnType<typeof aPerson>[] = [];

  beforeAll(async () => {
    postgres = await startPostgres();
    service = await runService({
      DATABASE_URL: postgres.url,
      BASE_URL: ORIGIN,
      // A connection gets a tenth of it, a statement a sixth.
      REQUEST_TIMEOUT_MS: '6000',
      RATE_LIMITS: 'off',
      BCRYPT_COST: '4',
    });
    const signedUp: Holder[] = [];
    // One after the other: on a busy machine, ten connections at once take longer than a connection may.
    while (signedUp.length < 10) signedUp.push(await signUpAt(service.url));
    holders = signedUp;
  });

  /** Registers one person after the other, and keeps those whose registration was acknowledged. @returns stops. */
  const registerOn = () => {
    let going = true;
    const loop = (async () => {
      while (going) {
        const person = aPerson();
        const { status } = await postJson(`${service.url}/auth/register`, person);
        if (status === 201) registered.push(person);
      }
    })();
    return async () => {
      going = false;
      await loop;
    };
  };

  it('requests that need it fail soon, also in the middle of one, and the others are served', async () => {
    const stopRefreshing = refreshAllAt(service.url, holders);
    const stopRegistering = registerOn();
    await vi.waitFor(() => expect(registered.length).toBeGreaterThan(3), RECOVERY);
    await strike(postgres);
    await vi.waitFor(() => expect(holders.every(({ failures }) => failures.length > 0)).toBe(true), RECOVERY);
    const ready = await ask(`${service.url}/health/ready`);
    expect(ready).toMatchObject({ status: 503, body: { message: expect.stringContaining('database') } });
    for (const path of ['/health/live', '/errors', '/auth/session']) {
      expect((await ask(service.url + path)).status).toBe(200);
    }
    await Promise.all([stopRefreshing(), stopRegistering()]);
    for (const failure of holders.flatMap(({ failures }) => failures)) {
      expect(failure).toMatchObject({ status: 500, code: 'DB_QUERY_FAILED', cookie: undefined });
    }
  });

  it('a form keeps what was typed, and settings have a page that says what to do', async () => {
    const form = await logInByForm(service.url, 'ada', 'correct horse battery');
    expect(form).toMatchObject({ status: 500, path: '/auth/log-in', text: expect.stringContaining('role="alert"') });
    expect(form.text).toContain('value="ada"');
    expect(form.text).not.toContain('correct horse');
    const settings = await pageAt(`${service.url}/auth/account`, holders[0]?.cookies().at(-1) ?? '');
    expect(settings).toMatchObject({ status: 500, text: expect.stringContaining('href="">Try again</a>') });
  });

  it('everything works again when it is back, and nothing that was acknowledged is lost', async () => {
    await mend(postgres);
    await vi.waitFor(async () => expect((await ask(`${service.url}/health/ready`)).status).toBe(200), RECOVERY);
    expect(registered.length).toBeGreaterThan(3);
    for (const { username: account, password } of registered) {
      const logIn = () => postJson(`${service.url}/auth/login`, { account, password });
      // A connection that the outage has cut may fail once more.
      await vi.waitFor(async () => expect((await logIn()).status).toBe(200), RECOVERY);
    }
    const [{ username = '', password = '' } = {}] = registered;
    const form = await logInByForm(service.url, username, password);
    expect(form).toMatchObject({ status: 200, path: '/auth/account' });
  });

  it('every refresh that failed has left its token usable', async () => {
    for (const { refresh } of holders) {
      await vi.waitFor(async () => expect((await refresh(service.url)).status).toBe(200), RECOVERY);
    }
    for (const { failures } of holders) {
      expect(new Set(failures.map(({ code }) => code))).toEqual(new Set(['DB_QUERY_FAILED']));
    }
  });
});
