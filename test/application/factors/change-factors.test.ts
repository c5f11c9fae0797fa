import { expect, it } from 'vitest';
import { makeRecoveryCodes, removeApp, startApp } from '../../../src/application/factors/manage-factors.ts';
import { removePasskey, renamePasskey } from '../../../src/application/factors/passkeys.ts';
import { registeredAda } from '../../support/account.ts';
import { aFactor, aPasskey } from '../../support/builders.ts';

it('a change of factors is refused in a session that the guard admitted before its user got a second factor', async () => {
  const { app, user, session, about } = await registeredAda();
  const now = app.clock.now();
  const factor = aFactor({ userId: user.id, confirmedAt: now });
  const passkey = aPasskey({ userId: user.id });
  await app.records.insert('factors', factor);
  await app.records.insert('passkeys', passkey);
  await app.users.update(user.id, { secondFactorAt: now, now });
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
