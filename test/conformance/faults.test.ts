import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GROUPS } from '../../conformance/checks/checks.ts';
import { bcryptPasswordHasher } from '../../src/adapters/crypto/bcrypt.ts';
import { ALLOWED_ORIGIN, conformanceOf } from '../support/conformance.ts';
import { startService, type TestService } from '../support/http/service.ts';
import { errorWith, type Fault } from './faults/alterations.ts';
import { type Behavior, startFaultyServer } from './faults/faulty-server.ts';
import { ACCOUNT_FAULTS } from './faults/of-accounts.ts';
import { DEVICE_FAULTS } from './faults/of-device-binding.ts';
import { EXTENDED_FAULTS, RATE_LIMIT_FAULTS } from './faults/of-the-other-parts.ts';
import { SPECIFICATION_FAULTS } from './faults/of-the-specification.ts';

/** bcrypt with its lowest cost, to save time. */
const hasher = bcryptPasswordHasher({ cost: 4 });
let service: TestService;
let limited: TestService;
let brieflyLimited: TestService;
let unbound: TestService;
beforeAll(async () => {
  service = await startService({ ALLOWED_ORIGINS_DEV: ALLOWED_ORIGIN }, { hasher });
  limited = await startService({ RATE_LIMITS: 'global=off,strict=1/60,public=off' }, { hasher });
  brieflyLimited = await startService({ RATE_LIMITS: 'global=off,strict=1/2,public=off' }, { hasher });
  unbound = await startService({ DEVICE_BINDING: 'off' }, { hasher });
});
afterAll(() => Promise.all([service, limited, brieflyLimited, unbound].map((each) => each.close())));

/** Runs the suite against a server in front of the service. */
const resultsBehind = async (target: TestService, behavior: Behavior, ...args: string[]) => {
  const server = await startFaultyServer(target.url, behavior);
  return conformanceOf(server.url, '--origin', ALLOWED_ORIGIN, ...args).finally(server.close);
};

const expectCaught = async (target: TestService, { caughtBy, expected, behavior }: Fault): Promise<void> => {
  const results = await resultsBehind(target, behavior(), '--only', caughtBy);
  expect(results).toMatchObject([{ id: caughtBy, outcome: 'failed', expected: expect.stringContaining(expected) }]);
};

describe('the suite', () => {
  it('finds nothing wrong with a server that only forwards', async () => {
    const results = await resultsBehind(service, (asked, forward) => forward(asked), '--extended');
    expect(results.filter(({ outcome }) => outcome !== 'held')).toEqual([]);
  });

  it.each(SPECIFICATION_FAULTS)('finds: $what ($caughtBy)', (fault) => expectCaught(service, fault));

  it.each(EXTENDED_FAULTS)('finds with --extended: $what ($caughtBy)', (fault) => expectCaught(service, fault));

  it.each(ACCOUNT_FAULTS)('finds with --extended: $what ($caughtBy)', (fault) => expectCaught(service, fault));

  it.each(DEVICE_FAULTS)('finds with --extended: $what ($caughtBy)', (fault) => expectCaught(service, fault));

  it('skips bound sessions where the service binds none', async () => {
    const ids = [...new Set(DEVICE_FAULTS.map(({ caughtBy }) => caughtBy))];
    const results = await conformanceOf(
      unbound.url,
      '--only',
      'account-export',
      ...ids.flatMap((id) => ['--only', id]),
    );
    const skipped = { outcome: 'skipped', reason: 'a log-in ignores proofs' };
    expect(results).toMatchObject([...ids.map((id) => ({ id, ...skipped })), { outcome: 'held' }]);
  });

  it('skips the routes of an account that a server does not have', async () => {
    const ids = [...new Set(ACCOUNT_FAULTS.map(({ caughtBy }) => caughtBy))];
    const behavior: Behavior = async (asked, forward) =>
      /^\/(?:users|auth\/(?:password|email))/.test(asked.path)
        ? errorWith(asked.method === 'DELETE' ? 405 : 404, 'SYS_HTTP_UNEXPECTED_ERROR')
        : forward(asked);
    const results = await resultsBehind(service, behavior, ...ids.flatMap((id) => ['--only', id]));
    expect(results.map(({ id, outcome }) => [id, outcome])).toEqual(ids.map((id) => [id, 'skipped']));
  });

  it('finds nothing wrong with the rate limit of the service', async () => {
    const results = await conformanceOf(brieflyLimited.url, '--only', 'rate-limit', '--only', 'rate-limit-retry-after');
    expect(results.map(({ outcome }) => outcome)).toEqual(['held', 'held']);
  });

  it.each(RATE_LIMIT_FAULTS)('finds with --rate-limits: $what ($caughtBy)', (fault) => expectCaught(limited, fault));

  it('finds that nothing is limited', async () => {
    const fault = { what: 'no limit', caughtBy: 'rate-limit', expected: '429 within 101 log-ins' };
    await expectCaught(service, { ...fault, behavior: () => (asked, forward) => forward(asked) });
  });

  it('has no check that no wrong server fails', () => {
    const caught = [
      ...SPECIFICATION_FAULTS,
      ...EXTENDED_FAULTS,
      ...ACCOUNT_FAULTS,
      ...DEVICE_FAULTS,
      ...RATE_LIMIT_FAULTS,
    ].map(({ caughtBy }) => caughtBy);
    const ids = GROUPS.flatMap(({ checks }) => checks.map(({ id }) => id));
    expect([...new Set(caught)].sort()).toEqual([...ids].sort());
  });
});
