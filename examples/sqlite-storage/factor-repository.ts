import type { SQLOutputValue } from 'node:sqlite';
import type { Factor, FactorRepository } from 'tandem';
import type { Connection } from './connection.ts';

const toFactor = (row: Record<string, SQLOutputValue>): Factor => ({ ...row }) as Factor;

/** Authenticator apps in the table `factors`, and hashes of codes in the table `recoveryCodes`. */
export const sqliteFactorRepository = ({ database, read, write }: Connection): FactorRepository => {
  const insert = database.prepare(
    'insert into factors values (:id, :userId, :secret, :lastStep, :createdAt, :confirmedAt)',
  );
  const selectByUser = database.prepare('select * from factors where userId = ? order by id');
  const selectPage = database.prepare('select * from factors where id > :after order by id limit :limit');
  const ONE = 'id = :id and userId = :userId';
  const updateStep = database.prepare(`
    update factors set lastStep = :step, confirmedAt = coalesce(confirmedAt, :now) where ${ONE} and lastStep < :step`);
  const updateSecret = database.prepare(`update factors set secret = :to where ${ONE} and secret = :from`);
  const deleteOne = database.prepare(`delete from factors where ${ONE}`);
  const insertCode = database.prepare('insert into recoveryCodes values (:userId, :hash)');
  const deleteCode = database.prepare('delete from recoveryCodes where userId = :userId and hash = :hash');
  const deleteCodes = database.prepare('delete from recoveryCodes where userId = ?');
  const countCodes = database.prepare('select count(*) as count from recoveryCodes where userId = ?');

  return {
    async add(factor) {
      await write(() => insert.run(factor));
    },
    listByUser: async (userId) => (await read(() => selectByUser.all(userId))).map(toFactor),
    useStep: async ({ id, userId }, step, now) =>
      (await write(() => updateStep.run({ id, userId, step, now }))).changes > 0,
    remove: async ({ id, userId }) => (await write(() => deleteOne.run({ id, userId }))).changes > 0,
    replaceCodes: (userId, hashes) =>
      write(() => {
        deleteCodes.run(userId);
        for (const hash of hashes) insertCode.run({ userId, hash });
      }),
    useCode: async (userId, hash) => (await write(() => deleteCode.run({ userId, hash }))).changes > 0,
    countCodes: async (userId) => Number((await read(() => countCodes.get(userId)))?.count),
    changeSecret: async ({ id, userId }, { from, to }) =>
      (await write(() => updateSecret.run({ id, userId, from, to }))).changes > 0,
    listAll: async (after, limit) => (await read(() => selectPage.all({ after, limit }))).map(toFactor),
  };
};
