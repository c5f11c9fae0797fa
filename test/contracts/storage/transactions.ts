import { expect } from 'vitest';
import { aUser, NOW } from '../../support/builders.ts';
import { expectTranslated, rejection } from '../hooks.ts';
import type { Tests } from '../suite.ts';
import { changeAll, REFUSAL } from './changes.ts';
import type { GivenStorage } from './given.ts';
import { overlapping } from './overlapping.ts';

export const transactions = (tests: Tests<GivenStorage>): void => {
  keeping(tests);
  overlapping(tests);
  refusing(tests);
};

const keeping = ({ it }: Tests<GivenStorage>): void => {
  it('keeps all changes when the work succeeds, and returns its result', async ({ transactions, stores, user }) => {
    const { work, seenIn, prepare, after } = changeAll(user);
    await prepare(stores);
    const result = { of: 'the work' };
    expect(await transactions.run((inside) => work(inside).then(() => result))).toBe(result);
    expect(await seenIn(stores)).toStrictEqual(after);
  });

  it('keeps none when the work rejects, and rejects with the same error', async (given) => {
    const { transactions, stores, user } = given;
    const { work, seenIn, prepare, before } = changeAll(user);
    await prepare(stores);
    const failing = transactions.run(async (inside) => {
      await work(inside);
      throw REFUSAL;
    });
    await expect(failing).rejects.toBe(REFUSAL);
    expect(await seenIn(stores)).toStrictEqual(before);
    expect(await transactions.run(async () => 'the next one')).toBe('the next one');
  });

  it('shows its own changes to the work', async ({ transactions, user, stores }) => {
    const { work, seenIn, prepare, after } = changeAll(user);
    await prepare(stores);
    const seen = await transactions.run(async (inside) => {
      await work(inside);
      return seenIn(inside);
    });
    expect(seen).toStrictEqual(after);
  });

  it('keeps all changes or rejects, when the work goes on after a store has refused a change', async (given) => {
    const { transactions, stores, user, other } = given;
    for (const isLast of [true, false]) {
      const now = NOW + 10 + Number(isLast);
      const outcome = await transactions
        .run(async ({ users }) => {
          if (isLast) await users.update(user.id, { disabledAt: now, now });
          await users.add(aUser({ username: other.username })).catch(() => undefined);
          if (!isLast) await users.update(user.id, { disabledAt: now, now });
          return 'kept';
        })
        .catch(() => 'lost');
      const { disabledAt } = (await stores.users.findById(user.id)) ?? expect.unreachable();
      expect(disabledAt === now ? 'kept' : 'lost').toBe(outcome);
    }
  });
};

const refusing = ({ it }: Tests<GivenStorage>): void => {
  it('rejects a transaction within another', async ({ transactions, stores, user }) => {
    const nested = transactions.run(async ({ users }) => {
      await users.update(user.id, { disabledAt: NOW, now: NOW }, { disabledAt: 1 });
      await transactions.run(async () => undefined);
    });
    await expect(nested).rejects.toMatchObject({ code: 'SYS_UNEXPECTED_ERROR' });
    expect(await transactions.run((inside) => inside.users.findById(user.id))).toStrictEqual(user);
    expect(await stores.users.findById(user.id)).toStrictEqual(user);
  });

  it('rejects with DB_QUERY_FAILED alone when its store fails', async ({ failing, stores, user }) => {
    const outcome = await rejection(
      (await failing()).transactions.run(async ({ users }) => {
        await users.update(user.id, { username: 'changed', now: NOW });
      }),
    );
    expectTranslated(outcome, [user.id, user.username, 'changed']);
    expect(await stores.users.findById(user.id)).toStrictEqual(user);
  });
};
