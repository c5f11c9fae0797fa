import { expect, it } from 'vitest';
import { makeRecoveryCodes, removeApp, startApp } from '../../../src/application/factors/manage-factors.ts';
import { removePasskey, renamePasskey } from '../../../src/application/factors/passkeys.ts';
import type { SecondFactorPolicy } from '../../../src/domain/assurance.ts';
import type { User } from '../../../src/domain/user.ts';
import { registeredAda } from '../../support/account.ts';
import { aFactor, aPasskey } from '../../support/builders.ts';

const operators = [{ attribute: 'roles', value: 'admin', scopes: ['users:read'] as const }];

it.each<[string, SecondFactorPolicy, Partial<Pick<User, 'secondFactorAt' | 'attributes'>>]>([
  ['that the guard admitted before its user got a second factor', {}, { secondFactorAt: 1 }],
  ['without the passkey of its user, where all need a second factor', { secondFactor: 'required' }, {}],
  ['without the passkey of an operator', { operators }, { attributes: { roles: ['admin'] } }],
])('a change of factors is refused in a session %s', async (_which, policy, change) => {
  const { app: service, user, session, about } = await registeredAda();
  const app = { ...service, ...policy };
  const now = app.clock.now();
  const factor = aFactor({ userId: user.id, confirmedAt: now });
  const passkey = aPasskey({ userId: user.id });
  await app.records.insert('factors', factor);
  await app.records.insert('passkeys', passkey);
  await app.users.update(user.id, { ...change, now });
  const before = await about(user.id);
  const caller = { userId: user.id, sessionId: session.sessionId };
  const changes = [
    () => startApp(app, app.secrets.factors)(caller),
    () => makeRecoveryCodes(app)(caller),
    () => removeApp(app)(caller, factor.id),
    () => renamePasskey(app)(caller, passkey.id, 'Theirs'),
    () => removePasskey(app)(caller, passkey.id),
  ];
  for (const change of changes) await expect(change()).rejects.toMatchObject({ code: 'AUTH_STEP_UP_REQUIRED' });
  expect(await about(user.id)).toEqual(before);
});
