import type { FactorRepository } from '../../application/ports/factor-repository.ts';
import type { IdentityRepository } from '../../application/ports/identity-repository.ts';
import type { PasskeyRepository } from '../../application/ports/passkey-repository.ts';
import type { RememberedDeviceRepository } from '../../application/ports/remembered-device-repository.ts';
import type { Records } from '../../application/storage/records.ts';
import {
  changeRow,
  findRow,
  purgeRows,
  removeRow,
  removeRows,
  withoutVersion,
} from '../../application/storage/rows.ts';
import type { Identity } from '../../domain/identity.ts';
import type { RememberedDevice } from '../../domain/remembered-device.ts';
import { inOrder } from './units.ts';

/** Authenticator apps and recovery codes. */
export const factorRepositoryOver = (records: Records): FactorRepository => ({
  add: (factor) => records.insert('factors', factor),
  async listByUser(userId) {
    return (await records.list('factors', { equal: { userId }, order: ['id'] })).map(withoutVersion);
  },
  async useStep({ id, userId }, step, now) {
    const used = await changeRow(records, 'factors', { id, userId }, (row) =>
      row.lastStep < step ? { ...row, lastStep: step, confirmedAt: row.confirmedAt ?? now } : null,
    );
    return used !== null;
  },
  remove: async ({ id, userId }) => (await removeRow(records, 'factors', { id, userId })) !== null,
  async replaceCodes(userId, hashes) {
    await removeRows(records, 'recoveryCodes', { userId });
    for (const hash of hashes) await records.insert('recoveryCodes', { userId, hash });
  },
  useCode: async (userId, hash) => (await removeRow(records, 'recoveryCodes', { userId, hash })) !== null,
  codesOf: async (userId) => (await records.list('recoveryCodes', { equal: { userId } })).map(({ hash }) => hash),
  async changeSecret({ id, userId }, { from, to }) {
    const changed = await changeRow(records, 'factors', { id, userId }, (row) =>
      row.secret === from ? { ...row, secret: to } : null,
    );
    return changed !== null;
  },
  async listAll(after, limit) {
    return (await records.list('factors', { range: ['id', '>', after], order: ['id'], limit })).map(withoutVersion);
  },
});

export const passkeyRepositoryOver = (records: Records): PasskeyRepository => ({
  add: (passkey) => records.insert('passkeys', passkey),
  async findByCredential(credentialId) {
    const passkey = await findRow(records, 'passkeys', { credentialId });
    return passkey && withoutVersion(passkey);
  },
  async listByUser(userId) {
    return (await records.list('passkeys', { equal: { userId }, order: ['id'] })).map(withoutVersion);
  },
  async recordUse({ id, userId }, { counter, isBackedUp }, now) {
    const used = await changeRow(records, 'passkeys', { id, userId }, (row) => ({
      ...row,
      counter: Math.max(row.counter, counter),
      isBackedUp,
      lastUsedAt: now,
    }));
    return used !== null;
  },
  rename: ({ id, userId }, name) => changeRow(records, 'passkeys', { id, userId }, (row) => ({ ...row, name })),
  remove: ({ id, userId }) => removeRow(records, 'passkeys', { id, userId }),
});

export const identityRepositoryOver = (records: Records): IdentityRepository => ({
  add: (identity) => records.insert('identities', identity),
  async find({ issuer, subject }) {
    const identity = await findRow(records, 'identities', { issuer, subject });
    return identity && withoutVersion(identity);
  },
  async listByUser(userId) {
    return (await records.list('identities', { equal: { userId }, order: ['id'] })).map(withoutVersion);
  },
  async recordUse({ issuer, subject }, email, now) {
    const use = (row: Identity) => ({ ...row, email, lastUsedAt: now });
    return (await changeRow(records, 'identities', { issuer, subject }, use)) !== null;
  },
  remove: ({ id, userId }) => removeRow(records, 'identities', { id, userId }),
});

const byAge = (a: RememberedDevice, b: RememberedDevice): number => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);

export const rememberedDeviceRepositoryOver = (records: Records): RememberedDeviceRepository => ({
  add: (device) => records.insert('rememberedDevices', device),
  async listByUser(userId, now) {
    const [endings, devices] = await inOrder(
      () => records.list('massEndings', { order: ['id'] }),
      () => records.list('rememberedDevices', { equal: { userId } }),
    );
    return devices
      .filter(({ createdAt, expiresAt }) => now < expiresAt && !endings.some(({ at }) => createdAt <= at))
      .map(withoutVersion)
      .sort(byAge);
  },
  remove: async ({ id, userId }) => (await removeRow(records, 'rememberedDevices', { id, userId })) !== null,
  removeOfUser: async (userId) => (await removeRows(records, 'rememberedDevices', { userId })).map(({ id }) => id),
  purge: (now, limit) => purgeRows(records, 'rememberedDevices', { time: 'expiresAt', until: now, limit }),
});
