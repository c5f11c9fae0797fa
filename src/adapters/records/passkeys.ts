import type { PasskeyRepository } from '../../application/ports/passkey-repository.ts';
import type { Passkey } from '../../domain/passkey.ts';
import { changeRow, findRow, takeRow } from './change.ts';
import type { Records, Stored } from './records.ts';

const toPasskey = ({ version: _version, ...passkey }: Passkey & Partial<Stored<'passkeys'>>): Passkey => passkey;

const found = (row: Passkey | null): Passkey | null => row && toPasskey(row);

export const passkeyRepositoryOver = (records: Records): PasskeyRepository => ({
  add: (passkey) => records.insert('passkeys', passkey),
  findByCredential: async (credentialId) => found(await findRow(records, 'passkeys', { credentialId })),
  async listByUser(userId) {
    return (await records.list('passkeys', { equal: { userId }, order: ['id'] })).map(toPasskey);
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
  rename: async ({ id, userId }, name) =>
    found(await changeRow(records, 'passkeys', { id, userId }, (row) => ({ ...row, name }))),
  remove: async ({ id, userId }) => found(await takeRow(records, 'passkeys', { id, userId })),
});
