import type { FactorRepository } from '../../../src/application/ports/factor-repository.ts';
import type { Factor, FactorKey } from '../../../src/domain/factor.ts';
import { memoryTables, type Tables } from './tables.ts';

type MemoryFactorRepository = FactorRepository & { removeOfUser(userId: string): void };
type Code = { readonly userId: string; readonly hash: string };

/** Keeps authenticator apps and recovery codes in memory until the process ends. */
export const memoryFactorRepository = (tables: Tables = memoryTables()): MemoryFactorRepository => {
  const factors = tables.open<Factor>('factors');
  const codes = tables.open<Code>('recovery codes');
  const find = ({ id, userId }: FactorKey): Factor | null => {
    const factor = factors.get(id);
    return factor?.userId === userId ? factor : null;
  };
  const sorted = (): Factor[] => [...factors.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const codesOf = (userId: string): Code[] => [...codes.values()].filter((code) => code.userId === userId);
  const removeCodes = (userId: string): void => {
    for (const { hash } of codesOf(userId)) codes.delete(`${userId} ${hash}`);
  };

  return {
    async add(factor) {
      factors.set(factor.id, { ...factor });
    },
    listByUser: async (userId) => sorted().filter((factor) => factor.userId === userId),
    async useStep(key, step, now) {
      const factor = find(key);
      if (factor === null || factor.lastStep >= step) return false;
      factors.set(key.id, { ...factor, lastStep: step, confirmedAt: factor.confirmedAt ?? now });
      return true;
    },
    remove: async (key) => find(key) !== null && factors.delete(key.id),
    async replaceCodes(userId, hashes) {
      removeCodes(userId);
      for (const hash of hashes) codes.set(`${userId} ${hash}`, { userId, hash });
    },
    useCode: async (userId, hash) => codes.delete(`${userId} ${hash}`),
    countCodes: async (userId) => codesOf(userId).length,
    async changeSecret(key, { from, to }) {
      const factor = find(key);
      if (factor?.secret !== from) return false;
      factors.set(key.id, { ...factor, secret: to });
      return true;
    },
    listAll: async (after, limit) =>
      sorted()
        .filter(({ id }) => id > after)
        .slice(0, limit),
    removeOfUser(userId) {
      for (const factor of factors.values()) if (factor.userId === userId) factors.delete(factor.id);
      removeCodes(userId);
    },
  };
};
