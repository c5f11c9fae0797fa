import type { PasskeyRepository } from '../../../src/application/ports/passkey-repository.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import type { Passkey, PasskeyKey } from '../../../src/domain/passkey.ts';
import { memoryTables, type Tables } from './tables.ts';

type MemoryPasskeyRepository = PasskeyRepository & { removeOfUser(userId: string): void };

/** Keeps passkeys in memory until the process ends. */
export const memoryPasskeyRepository = (tables: Tables = memoryTables()): MemoryPasskeyRepository => {
  const passkeys = tables.open<Passkey>('passkeys');
  const ofUser = (userId: string): Passkey[] => [...passkeys.values()].filter((passkey) => passkey.userId === userId);
  const find = ({ id, userId }: PasskeyKey): Passkey | undefined => ofUser(userId).find((passkey) => passkey.id === id);
  const copy = (passkey: Passkey): Passkey => ({ ...passkey, transports: [...passkey.transports] });
  const change = (key: PasskeyKey, changed: (passkey: Passkey) => Partial<Passkey>): Passkey | null => {
    const passkey = find(key);
    if (passkey === undefined) return null;
    const next = { ...passkey, ...changed(passkey) };
    passkeys.set(next.credentialId, next);
    return copy(next);
  };

  return {
    async add(passkey) {
      if (passkeys.has(passkey.credentialId)) throw new AppError('DB_UNIQUE_VIOLATION');
      passkeys.set(passkey.credentialId, copy(passkey));
    },
    async findByCredential(credentialId) {
      const passkey = passkeys.get(credentialId);
      return passkey === undefined ? null : copy(passkey);
    },
    listByUser: async (userId) =>
      ofUser(userId)
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        .map(copy),
    recordUse: async (key, { counter, isBackedUp }, now) =>
      change(key, (passkey) => ({ counter: Math.max(passkey.counter, counter), isBackedUp, lastUsedAt: now })) !== null,
    rename: async (key, name) => change(key, () => ({ name })),
    async remove(key) {
      const passkey = find(key);
      if (passkey === undefined) return null;
      passkeys.delete(passkey.credentialId);
      return copy(passkey);
    },
    removeOfUser(userId) {
      for (const { credentialId } of ofUser(userId)) passkeys.delete(credentialId);
    },
  };
};
