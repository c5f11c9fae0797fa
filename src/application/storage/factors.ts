import type { Identity, IdentityKey } from '../../domain/identity.ts';
import type { Passkey, PasskeyKey, PasskeyState } from '../../domain/passkey.ts';
import type { RememberedDevice, RememberedDeviceKey } from '../../domain/remembered-device.ts';
import type { Factor, FactorKey } from '../../domain/second-factor.ts';
import type { Records } from './records.ts';
import { changeRow, findRow, inOrder, purgeRows, removeRow, removeRows, withoutVersion } from './rows.ts';

/** The authenticator apps of a user, the oldest first. */
export const factorsOf = async (records: Records, userId: string): Promise<Factor[]> =>
  (await records.list('factors', { equal: { userId }, order: ['id'] })).map(withoutVersion);

/** Confirms the factor, if it is not. @returns whether the step was used now: neither it nor a later one was used before. */
export const useStep = async (
  records: Records,
  { id, userId }: FactorKey,
  step: number,
  now: number,
): Promise<boolean> => {
  const used = await changeRow(records, 'factors', { id, userId }, (row) =>
    row.lastStep < step ? { ...row, lastStep: step, confirmedAt: row.confirmedAt ?? now } : null,
  );
  return used !== null;
};

/** @returns whether the user had such a factor. */
export const deleteFactor = async (records: Records, { id, userId }: FactorKey): Promise<boolean> =>
  (await removeRow(records, 'factors', { id, userId })) !== null;

/** Replaces the recovery codes of a user, in a unit that has locked the user. */
export const storeCodes = async (records: Records, userId: string, hashes: readonly string[]): Promise<void> => {
  await removeRows(records, 'recoveryCodes', { userId });
  for (const hash of hashes) await records.insert('recoveryCodes', { userId, hash });
};

/** @returns whether the user had such a code, which is gone now. */
export const useCode = async (records: Records, userId: string, hash: string): Promise<boolean> =>
  (await removeRow(records, 'recoveryCodes', { userId, hash })) !== null;

/** The hashes of the recovery codes of a user. */
export const codesOf = async (records: Records, userId: string): Promise<string[]> =>
  (await records.list('recoveryCodes', { equal: { userId } })).map(({ hash }) => hash);

export const findPasskey = async (records: Records, credentialId: string): Promise<Passkey | null> => {
  const passkey = await findRow(records, 'passkeys', { credentialId });
  return passkey && withoutVersion(passkey);
};

/** The passkeys of a user, the oldest first. */
export const passkeysOf = async (records: Records, userId: string): Promise<Passkey[]> =>
  (await records.list('passkeys', { equal: { userId }, order: ['id'] })).map(withoutVersion);

/** Never lowers the counter. @returns whether the user had such a passkey. */
export const recordPasskeyUse = async (
  records: Records,
  { id, userId }: PasskeyKey,
  { counter, isBackedUp }: PasskeyState,
  now: number,
): Promise<boolean> => {
  const used = await changeRow(records, 'passkeys', { id, userId }, (row) => ({
    ...row,
    counter: Math.max(row.counter, counter),
    isBackedUp,
    lastUsedAt: now,
  }));
  return used !== null;
};

/** @returns the passkey that was removed; `null` when the user has no such passkey. */
export const deletePasskey = (records: Records, { id, userId }: PasskeyKey): Promise<Passkey | null> =>
  removeRow(records, 'passkeys', { id, userId });

export const findIdentity = async (records: Records, { issuer, subject }: IdentityKey): Promise<Identity | null> => {
  const identity = await findRow(records, 'identities', { issuer, subject });
  return identity && withoutVersion(identity);
};

/** The identities of a user, the oldest first. */
export const identitiesOf = async (records: Records, userId: string): Promise<Identity[]> =>
  (await records.list('identities', { equal: { userId }, order: ['id'] })).map(withoutVersion);

/** @returns the identity that was removed; `null` when the user has no such identity. */
export const deleteIdentity = (
  records: Records,
  { id, userId }: Pick<Identity, 'id' | 'userId'>,
): Promise<Identity | null> => removeRow(records, 'identities', { id, userId });

const byAge = (a: RememberedDevice, b: RememberedDevice): number => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);

/** The live devices of a user on which the second factor is not asked for again, the oldest first. */
export const devicesOf = async (records: Records, userId: string, now: number): Promise<RememberedDevice[]> => {
  const [endings, devices] = await inOrder(
    records,
    () => records.list('massEndings', { order: ['id'] }),
    () => records.list('rememberedDevices', { equal: { userId } }),
  );
  return devices
    .filter(({ createdAt, expiresAt }) => now < expiresAt && !endings.some(({ at }) => createdAt <= at))
    .map(withoutVersion)
    .sort(byAge);
};

/** @returns whether the user had such a device. */
export const deleteDevice = async (records: Records, { id, userId }: RememberedDeviceKey): Promise<boolean> =>
  (await removeRow(records, 'rememberedDevices', { id, userId })) !== null;

/** @returns how many of the expired ones it has removed, at most so many. */
export const purgeDevices = (records: Records, until: number, limit: number): Promise<number> =>
  purgeRows(records, 'rememberedDevices', { time: 'expiresAt', until, limit });
