import { expect } from 'vitest';
import { anEvent } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { atBoth } from '../two-instances.ts';
import { type GivenEvents, listAll, ORIGIN, series } from './store.ts';

export const operating = ({ it }: Tests<GivenEvents>): void => {
  it('hands out each event of an operator once, the earliest first, also when two instances ask and the user is deleted', async (given) => {
    const { repository, store, owner, otherUser, anotherIfAny } = given;
    const ofOperators = [
      anEvent({ userId: owner, actor: 'Ünna', ...ORIGIN }),
      anEvent({ userId: otherUser, kind: 'session-ended', reason: 'operator', actor: 'Bo' }),
      anEvent({ userId: owner, kind: 'deleted', actor: 'Ünna' }),
    ];
    // Those of earlier tests: they outlive their users.
    await repository.takeOperated(1_000);
    await repository.add([...ofOperators.slice(0, 2), anEvent({ userId: owner })]);
    await repository.add(ofOperators.slice(2));
    await store.deleteUser(owner);
    expect([await repository.takeOperated(2), await repository.takeOperated(2)]).toStrictEqual([
      ofOperators.slice(0, 2),
      ofOperators.slice(2),
    ]);
    expect(await repository.takeOperated(2)).toEqual([]);
    expect(await listAll(repository, otherUser)).toStrictEqual(ofOperators.slice(1, 2));
    const many = series(otherUser, 40, { actor: 'Bo' });
    await repository.add(many);
    const taken = await atBoth(await anotherIfAny(), repository, (events) =>
      Promise.all(Array.from({ length: 4 }, () => events.takeOperated(3))),
    );
    const ids = [...taken.flat(2), ...(await repository.takeOperated(100))].map(({ id }) => id);
    expect(ids.toSorted()).toEqual(many.map(({ id }) => id));
    expect(Math.max(...taken.flat().map(({ length }) => length))).toBeLessThanOrEqual(3);
  });
};
