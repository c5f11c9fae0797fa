import { beforeAll, describe, expect, it } from 'vitest';
import { GROUPS } from '../../conformance/checks/checks.ts';
import { ROOT } from '../support/checkout/repository.ts';
import { ALLOWED_ORIGIN } from '../support/conformance.ts';
import { DEVELOPMENT } from '../support/processes/environments.ts';
import { type RunningService, runInMemory, spawnService } from '../support/processes/process.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';
import { altering, issues, isTo, LOGIN, REGISTER, withCookie, withData, withStatus } from './alterations.ts';
import { type Behavior, startFaultyServer } from './faulty-server.ts';

/** Runs the program, and waits for its end. */
const conformance = async (...args: string[]) => {
  const { outcome, stdout, stderr } = spawnService({}, [], `${ROOT}conformance/main.ts`, args);
  const { code } = await outcome;
  return { code, out: stdout.join('\n'), notes: stderr.join('\n') };
};

const only = (...ids: string[]) => ids.flatMap((id) => ['--only', id]);

/** Runs it against a server in front of the service that behaves wrongly. */
const conformanceBehind = async (behavior: Behavior, ...args: string[]) => {
  const server = await startFaultyServer(development.url, behavior);
  return conformance(server.url, ...args).finally(server.close);
};

const directory = temporaryDirectory();
const ENV = { ...DEVELOPMENT, DATA_DIR: directory.path, ALLOWED_ORIGINS_DEV: ALLOWED_ORIGIN, BCRYPT_COST: '4' };
let development: RunningService;
beforeAll(async () => {
  development = await runInMemory(ENV);
});

describe('npm run conformance', () => {
  it('exits with 0 when every check has held, within the default limits of development', async () => {
    const { code, out, notes } = await conformance(development.url, '--origin', ALLOWED_ORIGIN, '--extended');
    expect({ code, notes }).toEqual({ code: 0, notes: '' });
    expect(out).toContain('registers the account conf');
    expect(out).toMatch(/\n\d+ checks: \d+ held, 0 failed\.$/);
  });

  it('passes within the limits of production, with the settings that it is given', async () => {
    const limits = { RATE_LIMITS: 'global=100/60,strict=20/60,public=1000/300' };
    const other = { JWT_REFRESH_COOKIE_SECURE: 'true', JWT_ACCESS_EXPIRES_IN: '5m', JWT_REFRESH_COOKIE_PATH: '/' };
    const limited = await runInMemory({ ...ENV, ...limits, ...other });
    const settings = Object.entries(other).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
    const { code, out, notes } = await conformance(limited.url, '--origin', ALLOWED_ORIGIN, '--extended', ...settings);
    await limited.stop();
    expect({ code, failures: out.match(/^ {2}FAIL.*/gm), notes }).toEqual({ code: 0, failures: null, notes: '' });
  });

  it('exits with 2 when registering opens no session, and says what it needs', async () => {
    const required = await runInMemory({ ...ENV, EMAIL_VERIFICATION: 'required' });
    const { code, out, notes } = await conformance(required.url);
    await required.stop();
    expect({ code, checks: out.match(/^ {2}(?:ok|FAIL).*/gm) }).toEqual({ code: 2, checks: null });
    expect(notes).toContain('the suite needs a service that opens a session at registration');
  });

  it('leaves no account behind but the one that it names', async () => {
    const own = await runInMemory(ENV);
    const { out } = await conformance(own.url, ...only('account-deletion', 'username-change'));
    const [name = ''] = /conf[0-9a-f]{14}/.exec(out) ?? [];
    const register = await fetch(`${own.url}/auth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: `${name}c`, email: `second.${name}@example.org`, password: `Free-${name}` }),
    });
    await own.stop();
    expect({ name, status: register.status }).toEqual({ name: expect.stringMatching(/^conf/), status: 201 });
  });

  it('skips what it cannot check, and says what it needs', async () => {
    const { code, out } = await conformance(development.url, ...only('cors-preflight'));
    expect(code).toBe(0);
    expect(out).toContain('skipped: name an allowed origin by --origin');
    expect(out).toContain('1 check: 0 held, 0 failed, 1 skipped.');
  });

  it('exits with 1 when a check has failed, and says what was expected and what came', async () => {
    const behavior = altering(
      issues,
      withCookie((line) => line.replace('; HttpOnly', '')),
    )();
    const { code, out } = await conformanceBehind(behavior, ...only('cookie-http-only', 'cookie-path'));
    expect(code).toBe(1);
    expect(out).toContain('FAIL  cookie-http-only');
    expect(out).toContain('SPEC "Refresh cookie": | HttpOnly | true | |');
    expect(out).toMatch(/expected: HttpOnly\n {8}got: refresh_token=…; Max-Age=604800; Path=\/auth/);
    expect(out).toContain('2 checks: 1 held, 1 failed.');
  });

  it('prints no token, no password and no control character of a response, and no long text', async () => {
    const alter = withData((data) => ({
      ...data,
      user: { password: '\u001b[2Jred', hash: `$2b$10$${'x'.repeat(53)}`, long: 'y'.repeat(1_000) },
    }));
    const behavior = altering(isTo(REGISTER, LOGIN), (answered, asked) =>
      withStatus(500)({ ...alter(answered), body: `${asked.body}${alter(answered).body}` }),
    )();
    const { code, out } = await conformanceBehind(behavior, ...only('register', 'login-username'));
    expect(code).toBe(1);
    expect(out).toContain('"password":"(secret)"');
    expect(out).toContain('"accessToken":"(secret)"');
    expect(out).not.toMatch(/eyJ|\$2b\$|[^\n\P{Cc}]/u);
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThan(600);
  });

  it('fails a check whose response it cannot read, and goes on', async () => {
    const deep = `{"success":true,"data":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    const behavior: Behavior = async (asked, forward) => {
      const answered = await forward(asked);
      return asked.path === '/errors' ? { ...answered, body: deep } : answered;
    };
    const { code, out } = await conformanceBehind(behavior, ...only('catalog-list', 'catalog-unknown-code'));
    expect(code).toBe(1);
    expect(out).toContain('2 checks: 1 held, 1 failed.');
  });

  it('takes an address with a path', async () => {
    const server = await startFaultyServer(development.url, (asked, forward) =>
      forward({ ...asked, path: asked.path.replace(/^\/api\/v1(?=\/)/, '') }),
    );
    const { code } = await conformance(`${server.url}/api/v1/`, ...only('register', 'catalog-entry'));
    await server.close();
    expect(code).toBe(0);
  });

  it('reports as JSON', async () => {
    const { out } = await conformance(development.url, '--json', ...only('catalog-list'));
    expect(JSON.parse(out)).toMatchObject({
      held: 1,
      failed: 0,
      skipped: 0,
      results: [{ id: 'catalog-list', outcome: 'held' }],
    });
  });

  it('lists the checks with their sources', async () => {
    const { code, out } = await conformance('--list', '--extended', '--rate-limits');
    expect(code).toBe(0);
    for (const { id } of GROUPS.flatMap(({ checks }) => checks)) expect(out).toContain(`${id}: `);
  });

  it('waits as Retry-After says, and sends the request again', async () => {
    let refusals = 1;
    const behavior: Behavior = async (asked, forward) => {
      const answered = await forward(asked);
      if (asked.path !== '/errors/NO_SUCH_CODE' || refusals-- <= 0) return answered;
      return { ...answered, status: 429, headers: { ...answered.headers, 'retry-after': '1' } };
    };
    const { code, notes } = await conformanceBehind(behavior, ...only('catalog-unknown-code'));
    expect({ code, notes }).toEqual({
      code: 0,
      notes: 'The rate limit is reached: waiting for 1 s, as Retry-After says.',
    });
  });

  it.each([
    ['longer than it may wait', '3600', '60'],
    ['until a date that is too far', 'Fri, 01 Jan 2100 00:00:00 GMT', '60'],
    ['when it may not wait', '1', '0'],
  ])('does not wait %s', async (_what, retryAfter, patience) => {
    const behavior: Behavior = async (asked, forward) => {
      const answered = await forward(asked);
      return asked.path === '/errors' ? answered : { ...answered, status: 429, headers: { 'retry-after': retryAfter } };
    };
    const { code, out } = await conformanceBehind(behavior, '--patience', patience, ...only('catalog-unknown-code'));
    expect(code).toBe(1);
    expect(out).toContain('got: 429 to GET /errors/NO_SUCH_CODE');
  });

  it('fails a check whose request is not answered in time, or too long', async () => {
    const never = new Promise<never>(() => undefined);
    const behavior: Behavior = async (asked, forward) => {
      const answered = await forward(asked);
      if (asked.path === '/errors/NO_SUCH_CODE') return never;
      return asked.path.endsWith('no-such-path') ? { ...answered, body: 'x'.repeat(2 * 1024 * 1024) } : answered;
    };
    const { code, out } = await conformanceBehind(
      behavior,
      '--timeout',
      '1',
      ...only('catalog-unknown-code', 'unknown-path'),
    );
    expect(code).toBe(1);
    expect(out).toContain('expected: a response to GET /errors/NO_SUCH_CODE\n        got: none in 1000 ms');
    expect(out).toContain('got: a larger one');
  });

  it.each([
    ['without an address', [], 'name one address'],
    ['with a file as address', ['file:///etc/passwd'], 'name one address'],
    ['with an unknown option', ['http://localhost', '--fast'], "Unknown option '--fast'"],
    ['with an unknown check', ['http://localhost', '--only', 'nothing'], 'there is no check nothing'],
    ['with an unknown setting', ['http://localhost', '--set', 'PORT=1'], 'not NAME=VALUE of a known variable'],
    ['with a time that is none', ['http://localhost', '--timeout', 'long'], '--timeout: not a time'],
    ['with an origin that is none', ['http://localhost', '--origin', 'app'], '--origin: not an origin'],
    ['when nothing answers', ['http://127.0.0.1:1'], 'no answer at http://127.0.0.1:1: ECONNREFUSED'],
  ])('exits with 2 %s', async (_what, args, reason) => {
    const { code, out, notes } = await conformance(...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(notes).toContain(reason);
  });
});
