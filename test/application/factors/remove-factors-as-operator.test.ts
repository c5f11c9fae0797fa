// Proves ASVS 6.4.4, 6.5.6; nist-11, nist-12

import { describe, expect, it } from 'vitest';
import { removeFactorsAsOperator } from '../../../src/application/accounts/operate-accounts.ts';
import { NOTICES_PER_HOUR, notifyOfChange } from '../../../src/application/notices.ts';
import { record } from '../../../src/application/service.ts';
import { storeRecoveryCodes } from '../../../src/application/storage/credentials.ts';
import { NO_ORIGIN } from '../../../src/domain/event.ts';
import { NOTICE_GROUPS } from '../../../src/domain/event-table.ts';
import { EMAIL, registeredAda, summaryOf } from '../../support/account.ts';
import { aFactor, aPasskey, aRememberedDevice } from '../../support/builders.ts';

const BY_OPERATOR = { ...NO_ORIGIN, actor: 'Una' };
const MANY = NOTICES_PER_HOUR + 1;

/** Ada, who has an authenticator app, another that has shown no code, recovery codes, and many passkeys. */
const setUp = async (given: Parameters<typeof registeredAda>[0] = {}) => {
  const ada = await registeredAda(given);
  const { app } = ada;
  const [userId, confirmedAt] = [ada.user.id, app.clock.now()];
  for (const factor of [aFactor({ userId, confirmedAt }), aFactor({ userId })])
    await app.records.insert('factors', factor);
  await storeRecoveryCodes(app.records, userId, ['a hash', 'another hash']);
  await app.users.update(userId, { secondFactorAt: confirmedAt, now: confirmedAt });
  for (let key = 0; key < MANY; key += 1) await app.records.insert('passkeys', aPasskey({ userId }));
  return { ...ada, remove: () => removeFactorsAsOperator(app)(ada.user.id, BY_OPERATOR) };
};

describe('removeFactorsAsOperator', () => {
  it('removes every factor of the user, so that no log-in needs one, forgets the devices, and records each', async () => {
    const { app, ofAda, remove, ...ada } = await setUp();
    await app.records.insert('rememberedDevices', aRememberedDevice({ userId: ada.user.id }));
    const { sessions, events: before } = await ofAda();
    expect(await remove()).toEqual({ apps: 1, recoveryCodes: 2, passkeys: MANY });
    const { user, events, ...left } = await ofAda();
    expect(left).toMatchObject({ passkeys: [], factors: [], recoveryCodes: 0, devices: [], sessions });
    expect(user).toMatchObject({ secondFactorAt: null, updatedAt: app.clock.now() });
    const recorded = events.slice(0, events.length - before.length);
    expect(recorded.map(summaryOf).toSorted()).toEqual([
      'device-forgotten: operator',
      ...Array(MANY).fill('passkey-removed'),
      'second-factor-removed',
    ]);
    for (const event of recorded) expect(event).toMatchObject(BY_OPERATOR);
  });

  it('notifies the user once of each kind, and of none that there is not', async () => {
    const { pending, remove } = await setUp();
    await remove();
    expect(await remove()).toEqual({ apps: 0, recoveryCodes: 0, passkeys: 0 });
    expect((await pending()).toSorted()).toEqual([`passkey-removed to ${EMAIL}`, `second-factor-removed to ${EMAIL}`]);
  });

  it('notifies the user also when somebody has used up the notices of the hour', async () => {
    const { app, user, ofAda, remove } = await setUp();
    for (let time = 0; time < MANY; time += 1) {
      await record(app, app, NO_ORIGIN, [{ userId: user.id, kind: 'second-factor-removed' }]);
      await notifyOfChange(app, app, {
        kind: 'second-factor-removed',
        user: { ...user, emailVerifiedAt: null },
        origin: NO_ORIGIN,
      });
    }
    const removals = async () => (await ofAda()).messages.filter(({ kind }) => kind === 'second-factor-removed').length;
    expect(await removals()).toBe(NOTICES_PER_HOUR);
    await remove();
    expect(await removals()).toBe(NOTICES_PER_HOUR + 1);
  });

  it('notifies nobody when notices of factors are off', async () => {
    const { pending, remove } = await setUp({ mailNotices: NOTICE_GROUPS.filter((notice) => notice !== 'factors') });
    await remove();
    expect(await pending()).toEqual([]);
  });
});
