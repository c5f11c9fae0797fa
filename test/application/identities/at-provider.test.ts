import { expect, it, vi } from 'vitest';
import {
  finishAtProvider,
  openSignInStarts,
  startAtProvider,
} from '../../../src/application/identities/at-provider.ts';
import type { IdentityProvider } from '../../../src/application/ports/identity-providers.ts';
import { application } from '../../support/application.ts';

it('a provider is asked after its start has ended, and outside of transactions', async () => {
  const app = application();
  const transactions = vi.spyOn(app.transactions, 'run');
  const used = vi.spyOn(app.records, 'insert');
  const seen: unknown[] = [];
  const provider: IdentityProvider = {
    ...{ name: 'acme', title: 'Acme', callback: { url: 'https://auth.example.org/callback', isPosted: false } },
    begin: async ({ state }) => `https://accounts.example/?state=${state}`,
    complete: async () => {
      seen.push(used.mock.calls.length, transactions.mock.calls.length);
      return {
        ...{ issuer: 'https://accounts.example', subject: '4711', provider: 'acme' },
        ...{ email: 'grace@example.org', isEmailVerified: true },
      };
    },
  };
  const deps = { ...app, providers: new Map([['acme', provider]]), pause: async () => undefined };
  const { sealed } = await startAtProvider(deps)({ provider: 'acme' }, false);
  const [start] = openSignInStarts(deps, [sealed]);
  await finishAtProvider(deps)(start ?? expect.unreachable(), '', {});
  expect(seen).toEqual([1, 0]);
  expect(transactions).toHaveBeenCalled();
  expect(await app.users.findByEmail('grace@example.org')).not.toBeNull();
});
