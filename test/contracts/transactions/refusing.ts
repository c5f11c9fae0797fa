import { expect } from 'vitest';
import { NOW } from '../../support/builders.ts';
import { expectTranslated, offered, rejection } from '../hooks.ts';
import type { Tests } from '../suite.ts';
import type { GivenUnits } from './store.ts';

export const refusing = ({ it }: Tests<GivenUnits>): void => {
  it('rejects a transaction within another', async ({ transactions, stores, user }) => {
    const nested = transactions.run(async ({ users }) => {
      await users.update(user.id, { disabledAt: NOW, now: NOW }, { disabledAt: 1 });
      await transactions.run(async () => undefined);
    });
    await expect(nested).rejects.toMatchObject({ code: 'SYS_UNEXPECTED_ERROR' });
    expect(await transactions.run((inside) => inside.users.findById(user.id))).toStrictEqual(user);
    expect(await stores.users.findById(user.id)).toStrictEqual(user);
  });

  it('rejects with DB_QUERY_FAILED alone when its store fails', async ({ store, run, stores, user }) => {
    const failing = await offered(store.failing, run)();
    const outcome = await rejection(
      failing.run(async ({ users }) => {
        await users.update(user.id, { username: 'changed', now: NOW });
      }),
    );
    expectTranslated(outcome, [user.id, user.username, 'changed']);
    expect(await stores.users.findById(user.id)).toStrictEqual(user);
  });
};
