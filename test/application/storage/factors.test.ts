// Proves ASVS 6.5.1, 6.8.1; nist-2

import { describe, expect, it } from 'vitest';
import {
  devicesOf,
  factorsOf,
  findIdentity,
  findPasskey,
  identitiesOf,
  passkeysOf,
  recordPasskeyUse,
  recoveryCodesOf,
  storeRecoveryCodes,
  useRecoveryCode,
  useStep,
} from '../../../src/application/storage/credentials.ts';
import { removeRow } from '../../../src/application/storage/rows.ts';
import { aFactor, anId, anIdentity, aPasskey, aRememberedDevice, NOW } from '../../support/builders.ts';
import { storageOfTwo } from '../../support/storage/two-users.ts';

describe('an authenticator app', () => {
  it('accepts a step of its user, unless it or a later one was used, and is confirmed by the first', async () => {
    const { records, owner, otherUser } = await storageOfTwo();
    const [factor, other] = [aFactor({ userId: owner }), aFactor({ userId: owner })];
    for (const each of [factor, other]) await records.insert('factors', each);
    for (const key of [
      { id: factor.id, userId: otherUser },
      { id: anId(), userId: owner },
    ])
      expect([await useStep(records, key, 7, NOW), await removeRow(records, 'factors', key)]).toEqual([false, null]);
    const uses: boolean[] = [];
    for (const step of [7, 7, 6, 8]) uses.push(await useStep(records, factor, step, NOW + step));
    expect(uses).toEqual([true, false, false, true]);
    expect(await factorsOf(records, owner)).toEqual([{ ...factor, lastStep: 8, confirmedAt: NOW + 7 }, other]);
  });

  it('has recovery codes, each of which is used once, until they are replaced', async () => {
    const { records, owner, otherUser } = await storageOfTwo();
    await storeRecoveryCodes(records, owner, ['one', 'two']);
    await storeRecoveryCodes(records, otherUser, ['of the other']);
    const uses: boolean[] = [];
    for (const [userId, code] of [
      [otherUser, 'one'],
      [owner, 'ONE'],
      [owner, 'one'],
      [owner, 'one'],
    ] as const)
      uses.push(await useRecoveryCode(records, userId, code));
    expect(uses).toEqual([false, false, true, false]);
    expect(await recoveryCodesOf(records, owner)).toEqual(['two']);
    await storeRecoveryCodes(records, owner, ['three']);
    expect([await recoveryCodesOf(records, owner), await recoveryCodesOf(records, otherUser)]).toEqual([
      ['three'],
      ['of the other'],
    ]);
  });
});

describe('a passkey', () => {
  it('is found by its credential, listed with those of its user, and removed once', async () => {
    const { records, owner, otherUser, stranger } = await storageOfTwo();
    const own = [aPasskey({ userId: owner }), aPasskey({ userId: owner, credentialId: 'x'.repeat(1_364) })];
    const [passkey = expect.unreachable(), other] = own;
    for (const each of [...own.toReversed(), aPasskey({ userId: otherUser })]) await records.insert('passkeys', each);
    expect(await findPasskey(records, passkey.credentialId)).toStrictEqual(passkey);
    expect([await findPasskey(records, 'x'), await passkeysOf(records, stranger)]).toEqual([null, []]);
    expect(await passkeysOf(records, owner)).toStrictEqual(own);
    expect(await removeRow(records, 'passkeys', { id: passkey.id, userId: otherUser })).toBeNull();
    expect(await removeRow(records, 'passkeys', { id: passkey.id, userId: owner })).toStrictEqual(passkey);
    expect(await passkeysOf(records, owner)).toStrictEqual([other]);
  });

  it('remembers its last use, and never a lower counter', async () => {
    const { records, owner, otherUser } = await storageOfTwo();
    const passkey = aPasskey({ userId: owner, isSynced: true, counter: 100 });
    await records.insert('passkeys', passkey);
    const use = { counter: 105, isBackedUp: true };
    expect(await recordPasskeyUse(records, { id: passkey.id, userId: otherUser }, use, NOW)).toBe(false);
    await Promise.all(
      [101, 9, 105, 0, 104].map((counter) => recordPasskeyUse(records, passkey, { ...use, counter }, NOW + 5)),
    );
    expect(await findPasskey(records, passkey.credentialId)).toEqual({ ...passkey, ...use, lastUsedAt: NOW + 5 });
  });
});

it('an identity is found by its issuer and its subject together, and removed once', async () => {
  const { records, owner, otherUser } = await storageOfTwo();
  const { subject } = anIdentity();
  const own = anIdentity({ userId: owner, subject });
  const sameSubject = anIdentity({ userId: otherUser, subject, issuer: 'https://other.example/ä' });
  for (const each of [own, sameSubject]) await records.insert('identities', each);
  for (const each of [own, sameSubject]) expect(await findIdentity(records, each)).toEqual(each);
  for (const changed of [{ subject: subject.toUpperCase() }, { subject: `${subject} ` }, { issuer: `${own.issuer}/` }])
    expect(await findIdentity(records, { ...own, ...changed })).toBeNull();
  expect(await removeRow(records, 'identities', { id: own.id, userId: otherUser })).toBeNull();
  expect([await identitiesOf(records, owner), await identitiesOf(records, otherUser)]).toEqual([[own], [sameSubject]]);
});

it('remembered devices are listed while they live, the oldest first', async () => {
  const { records, owner } = await storageOfTwo();
  const device = (given: object = {}) => aRememberedDevice({ userId: owner, ...given });
  const [later, first, expired] = [device({ createdAt: NOW + 1 }), device(), device({ expiresAt: NOW })];
  for (const each of [later, first, expired]) await records.insert('rememberedDevices', each);
  expect(await devicesOf(records, owner, NOW)).toEqual([first, later]);
});
