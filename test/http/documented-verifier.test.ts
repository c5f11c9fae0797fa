import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { verifier } from '../../examples/resource-server/authenticate.ts';
import { readText } from '../support/checkout/repository.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { servicesOverOneDatabase, signUp, tampered, tokenIn } from '../support/http/auth-http.ts';
import type { TestService } from '../support/http/service.ts';
import { testKeys } from '../support/keys.ts';
import { keyVariables } from '../support/processes/environments.ts';

const PARTIES = { JWT_ISSUER: 'https://auth.example.com', JWT_AUDIENCE: 'https://api.example.com' };
const KEYS = testKeys();
const AN_HOUR_AGO = Date.now() - 3_600_000;

type Verifier = ReturnType<typeof verifier>;

const { start } = servicesOverOneDatabase();
let service: TestService;
let authenticate: Verifier;
let ada: Awaited<ReturnType<typeof signUp>>;
beforeAll(async () => {
  service = await start({ ...keyVariables(KEYS), ...PARTIES });
  authenticate = verifierFor(`${service.url}/.well-known/jwks.json`);
  ada = await signUp(service);
});

const verifierFor = (keySet: string): Verifier =>
  verifier({ keySet: new URL(keySet), issuer: PARTIES.JWT_ISSUER, audience: PARTIES.JWT_AUDIENCE });

const statusOf = (authenticate: Verifier, authorization?: string): Promise<number> =>
  authenticate(authorization).then(
    () => 200,
    ({ status }) => status,
  );
const bearer = (token: string): string => `Bearer ${token}`;

describe('the verifier that docs/verify-tokens.md prints', () => {
  it('is that of the example', () => {
    const [, printed] = /```ts\n([\s\S]*?)```/.exec(readText('docs/verify-tokens.md')) ?? [];
    expect(printed).toBe(readText('examples/resource-server/authenticate.ts'));
  });

  it('returns the claims of an access token', async () => {
    const claims = await authenticate(bearer(ada.accessToken));
    expect(claims).toMatchObject({ sub: ada.user.id, tokenType: 'access', user: ada.user });
  });

  it.each([
    ['no header', () => undefined],
    ['another scheme', () => 'Basic YTpi'],
    ['no token', () => bearer('none')],
    ['a tampered token', () => bearer(tampered(ada.accessToken))],
    ['a refresh token', () => bearer(tokenIn(ada.cookie))],
  ])('refuses %s with 401', async (_what, authorization) => {
    expect(await statusOf(authenticate, authorization())).toBe(401);
  });

  it.each([
    ['without issuer and audience', {}],
    ['of another issuer', { ...PARTIES, JWT_ISSUER: 'https://other.example.com' }],
    ['for another audience', { ...PARTIES, JWT_AUDIENCE: 'https://other.example.com' }],
  ])('refuses a token %s with 401, though its signature is valid', async (_what, parties) => {
    const other = await signUp(await start({ ...keyVariables(KEYS), ...parties }));
    expect(await statusOf(authenticate, bearer(other.accessToken))).toBe(401);
  });

  it('refuses an expired token with 401', async () => {
    const early = await start({ ...keyVariables(KEYS), ...PARTIES }, () => ({ clock: fixedClock(AN_HOUR_AGO) }));
    expect(await statusOf(authenticate, bearer((await signUp(early)).accessToken))).toBe(401);
  });

  it('accepts a token for five seconds after it has expired, since clocks differ', async () => {
    const token = ada.accessToken;
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    onTestFinished(() => void vi.useRealTimers());
    for (const [seconds, status] of [
      [4, 200],
      [6, 401],
    ] as const) {
      vi.useFakeTimers({ toFake: ['Date'], now: (exp + seconds) * 1_000 });
      expect(await statusOf(authenticate, bearer(token))).toBe(status);
    }
  });

  it.each([
    ['cannot be reached', () => 'http://127.0.0.1:1/jwks.json'],
    ['does not exist', () => `${service.url}/nothing`],
    ['is not a key set', () => `${service.url}/health/live`],
  ])('answers 503 while the key set %s', async (_what, address) => {
    expect(await statusOf(verifierFor(address()), bearer(ada.accessToken))).toBe(503);
  });
});

/** A Python with PyJWT: that of the PATH, or that of the system (Debian's python3-jwt). */
const PYTHON = ['python3', '/usr/bin/python3'].find(
  (python) => spawnSync(python, ['-c', 'import jwt, cryptography']).status === 0,
);

/** The printed code with other addresses, and a program that prints the status of each header. */
const programFor = (keySet: string): string => {
  const [, printed = ''] = /```python\n([\s\S]*?)```/.exec(readText('docs/verify-tokens.md')) ?? [];
  return `${printed.replace('https://auth.example.com/.well-known/jwks.json', keySet)}
import json, sys

def status_of(authorization):
    try:
        authenticate(authorization)
        return 200
    except Refused as refused:
        return refused.status

print(json.dumps([status_of(each) for each in json.load(sys.stdin)]))
`;
};

const statusesIn = async (python: string, keySet: string, headers: readonly (string | null)[]): Promise<unknown> => {
  const run = promisify(execFile)(python, ['-c', programFor(keySet)]);
  run.child.stdin?.end(JSON.stringify(headers));
  return JSON.parse((await run).stdout);
};

describe.runIf(PYTHON !== undefined)('the Python code that docs/verify-tokens.md prints', () => {
  it('accepts what it should, and refuses the rest', async () => {
    const made = async (difference: number) => {
      const off = fixedClock(Date.now() + difference);
      return bearer(
        (await signUp(await start({ ...keyVariables(KEYS), ...PARTIES }, () => ({ clock: off })))).accessToken,
      );
    };
    const other = await signUp(await start(PARTIES));
    const expected: readonly (readonly [number, string | null])[] = [
      [200, bearer(ada.accessToken)],
      // Issued in the future.
      [200, await made(4_000)],
      [401, await made(-3_600_000)],
      [401, null],
      [401, 'Basic YTpi'],
      [401, bearer('none')],
      [401, bearer(tampered(ada.accessToken))],
      [401, bearer(tokenIn(ada.cookie))],
      // Its key is unknown.
      [401, bearer(other.accessToken)],
    ];
    const headers = expected.map(([, header]) => header);
    expect(await statusesIn(PYTHON ?? '', `${service.url}/.well-known/jwks.json`, headers)).toEqual(
      expected.map(([status]) => status),
    );
  });

  it('answers 503 while the key set cannot be reached', async () => {
    const unreachable = 'http://127.0.0.1:1/jwks.json';
    expect(await statusesIn(PYTHON ?? '', unreachable, [bearer(ada.accessToken)])).toEqual([503]);
  });
});
