import { beforeAll, describe, expect, it } from 'vitest';
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

  it.each([
    ['cannot be reached', () => 'http://127.0.0.1:1/jwks.json'],
    ['does not exist', () => `${service.url}/nothing`],
    ['is not a key set', () => `${service.url}/health/live`],
  ])('answers 503 while the key set %s', async (_what, address) => {
    expect(await statusOf(verifierFor(address()), bearer(ada.accessToken))).toBe(503);
  });
});
