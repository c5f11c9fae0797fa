import type { FactorRepository } from '../../application/ports/factor-repository.ts';
import type { Factor } from '../../domain/second-factor.ts';
import { changeRow, removeRows, takeRow } from './change.ts';
import type { Records, Stored } from './records.ts';

const toFactor = ({ version: _version, ...factor }: Stored<'factors'>): Factor => factor;

export const factorRepositoryOver = (records: Records): FactorRepository => ({
  add: (factor) => records.insert('factors', factor),
  async listByUser(userId) {
    return (await records.list('factors', { equal: { userId }, order: ['id'] })).map(toFactor);
  },
  async useStep({ id, userId }, step, now) {
    const used = await changeRow(records, 'factors', { id, userId }, (row) =>
      row.lastStep < step ? { ...row, lastStep: step, confirmedAt: row.confirmedAt ?? now } : null,
    );
    return used !== null;
  },
  remove: async ({ id, userId }) => (await takeRow(records, 'factors', { id, userId })) !== null,
  async replaceCodes(userId, hashes) {
    await removeRows(records, 'recoveryCodes', { userId });
    for (const hash of hashes) await records.insert('recoveryCodes', { userId, hash });
  },
  useCode: async (userId, hash) => (await takeRow(records, 'recoveryCodes', { userId, hash })) !== null,
  countCodes: async (userId) => (await records.list('recoveryCodes', { equal: { userId } })).length,
  async changeSecret({ id, userId }, { from, to }) {
    const changed = await changeRow(records, 'factors', { id, userId }, (row) =>
      row.secret === from ? { ...row, secret: to } : null,
    );
    return changed !== null;
  },
  async listAll(after, limit) {
    return (await records.list('factors', { range: ['id', '>', after], order: ['id'], limit })).map(toFactor);
  },
});
