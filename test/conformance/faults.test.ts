import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALLOWED_ORIGIN, conformanceOf } from '../support/conformance.ts';
import { hasher, startService, type TestService } from '../support/http/service.ts';
import { altering, errorWith, isError, issues, withBody, withCookie, withData, without } from './alterations.ts';
import { believingTokens } from './believing-tokens.ts';
import { type Behavior, startFaultyServer } from './faulty-server.ts';

let service: TestService;
let limited: TestService;
let unbound: TestService;
beforeAll(async () => {
  service = await startService({ ALLOWED_ORIGINS_DEV: ALLOWED_ORIGIN }, { hasher });
  limited = await startService({ RATE_LIMITS: 'global=off,strict=1/2,public=off' }, { hasher });
  unbound = await startService({ DEVICE_BINDING: 'off' }, { hasher });
});
afterAll(() => Promise.all([service, limited, unbound].map((each) => each.close())));

/** Runs the suite against a server in front of the service. */
const resultsBehind = async (behavior: Behavior, ...args: string[]) => {
  const server = await startFaultyServer(service.url, behavior);
  return conformanceOf(server.url, '--origin', ALLOWED_ORIGIN, ...args).finally(server.close);
};
const forwarding: Behavior = (asked, forward) => forward(asked);

/** Answers in another form than that of the specification, and tells too much. */
const answeringLoosely = (): Behavior => {
  const layers = [
    altering(
      issues,
      withData((data) => ({ ...data, user: { ...(data.user as object), passwordHash: 'x' } })),
    ),
    altering(
      issues,
      withCookie((line) => line.replace('; HttpOnly', '')),
    ),
    altering(
      isError,
      withBody(({ details: _, ...body }) => ({ ...body, code: 'ERROR' })),
    ),
    altering(() => true, without('x-frame-options')),
    altering(() => true, without('svc-request-id')),
  ].map((layer) => layer());
  return layers.reduce((inner, outer) => (asked, forward) => outer(asked, (each) => inner(each, forward)));
};

/** The checks that the form of answers, headers and codes fails, in their order. */
const BY_FORM = `
  register duplicate-username duplicate-email login-username login-email login-wrong-password login-unknown-account public-routes
  no-secrets error-envelope error-code error-context error-details unknown-path unknown-method catalog-unknown-code security-headers
  new-request-id given-request-id validation-missing validation-types malformed-body cookie-http-only rotated-token-refused
  one-refresh-wins refresh-without-cookie refresh-malformed refresh-forged refresh-with-access-token required-missing required-invalid
  catalog-fields malformed-body-details body-size refused-origin methods www-authenticate clear-cookie-ends-session made-up-links
  email-change-request username-change account-deletion
`;
/** Those that forged, rotated and missing tokens fail. */
const BY_TOKENS = `
  error-envelope error-code error-type error-details refresh-without-bearer rotated-token-refused one-refresh-wins
  refresh-without-cookie refresh-malformed refresh-forged refresh-with-access-token required-invalid optional-invalid
  clear-cookie-ends-session refused-refresh-keeps-cookie device-copied-cookie device-used-proof account-deletion
`;
const idsIn = (text: string) => text.trim().split(/\s+/);

describe('the suite', () => {
  it('finds nothing wrong with a server that only forwards', async () => {
    const results = await resultsBehind(forwarding, '--extended');
    expect(results.filter(({ outcome }) => outcome !== 'held')).toEqual([]);
  });

  it.each([
    ['answers in another form', answeringLoosely, BY_FORM],
    ['believes every token', believingTokens, BY_TOKENS],
  ])('finds what is wrong with a service that %s', async (_what, behavior, caughtBy) => {
    const results = await resultsBehind(behavior(), '--extended');
    expect(results.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id)).toEqual(idsIn(caughtBy));
  });

  it('skips bound sessions where the service binds none', async () => {
    const ids = ['device-refresh', 'device-lost-response', 'device-copied-cookie', 'device-used-proof'];
    const only = ['account-export', ...ids].flatMap((id) => ['--only', id]);
    const skipped = { outcome: 'skipped', reason: 'a log-in ignores proofs' };
    expect(await conformanceOf(unbound.url, ...only)).toMatchObject([
      ...ids.map((id) => ({ id, ...skipped })),
      { outcome: 'held' },
    ]);
  });

  it('skips the routes of an account that a server does not have', async () => {
    const ids = ['account-deletion', 'account-export', 'username-change'];
    const behavior: Behavior = async (asked, forward) =>
      /^\/(?:users|auth\/(?:password|email))/.test(asked.path)
        ? errorWith(asked.method === 'DELETE' ? 405 : 404, 'SYS_HTTP_UNEXPECTED_ERROR')
        : forward(asked);
    const results = await resultsBehind(behavior, ...ids.flatMap((id) => ['--only', id]));
    expect(new Map(results.map(({ id, outcome }) => [id, outcome]))).toEqual(new Map(ids.map((id) => [id, 'skipped'])));
  });

  it('finds nothing wrong with the rate limit of the service, and that of one that limits nothing', async () => {
    const held = await conformanceOf(limited.url, '--only', 'rate-limit', '--only', 'rate-limit-retry-after');
    expect(held.map(({ outcome }) => outcome)).toEqual(['held', 'held']);
    expect(await resultsBehind(forwarding, '--only', 'rate-limit')).toMatchObject([
      { outcome: 'failed', expected: '429 within 101 log-ins' },
    ]);
  });
});
