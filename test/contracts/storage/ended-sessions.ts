import { expect } from 'vitest';
import { EVENT_KINDS, SESSION_ENDINGS } from '../../../src/domain/event.ts';
import { anEnded, anEvent, anId, NOW } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { type GivenStorage, idsOf } from './given.ts';

export const endings = ({ it }: Tests<GivenStorage>): void => {
  it('lists what has ended since a time, the latest first, at most as many as it is asked to', async ({ endings }) => {
    const session = anEnded();
    const user = anEnded({ at: NOW + 1, sessionId: null, userId: anId(), reason: 'operator' });
    const everybody = anEnded({ at: NOW + 2, sessionId: null, reason: 'operator' });
    const [first, second] = [anEnded({ at: NOW + 3 }), anEnded({ at: NOW + 3 })];
    for (const each of [everybody, second, session, first, user]) await endings.add(each);
    expect(await endings.list(NOW, 9)).toStrictEqual([second, first, everybody, user, session]);
    expect(await endings.list(NOW + 1, 9)).toStrictEqual([second, first, everybody, user]);
    expect(await endings.list(NOW, 1)).toStrictEqual([second]);
    expect(await endings.list(NOW + 4, 9)).toEqual([]);
  });

  it('has what events say of sessions that ended early and of users who were disabled or deleted, and nothing of others', async (given) => {
    const { endings, events, owner, stranger } = given;
    const ended = SESSION_ENDINGS.map((reason) =>
      anEvent({ userId: owner, kind: 'session-ended', sessionId: anId(), reason }),
    );
    const byOperator = anEvent({ userId: owner, kind: 'session-ended', sessionId: anId(), reason: 'account-deleted' });
    const operators = [{ ...byOperator, actor: 'Jo' }, anEvent({ userId: owner, kind: 'deleted', actor: 'Jo' })];
    const others = EVENT_KINDS.filter((kind) => !['session-ended', 'disabled', 'deleted'].includes(kind));
    const disabled = anEvent({ userId: owner, kind: 'disabled' });
    const deleted = anEvent({ userId: stranger, kind: 'deleted' });
    await events.add(others.map((kind) => anEvent({ userId: owner, kind, sessionId: anId() })));
    await events.add([{ ...byOperator, id: anId() }], false);
    await events.add([...ended, ...operators, disabled, deleted]);
    const session = ({ id, at, sessionId }: typeof disabled) => ({ id, at, sessionId, userId: null });
    const user = ({ id, at, userId }: typeof disabled) => ({ id, at, userId, sessionId: null });
    const [jos, removed] = operators as [typeof byOperator, typeof byOperator];
    expect((await endings.list(0, 99)).toSorted((a, b) => (a.id < b.id ? -1 : 1))).toStrictEqual(
      [
        ...ended
          .filter(({ reason }) => reason !== 'expired')
          .map((each) => ({ ...session(each), reason: each.reason })),
        ...[
          { ...session(jos), reason: 'operator' },
          { ...user(removed), reason: 'operator' },
        ],
        ...[
          { ...user(disabled), reason: 'operator' },
          { ...user(deleted), reason: 'account-deleted' },
        ],
      ].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    );
  });

  it('keeps it when its user is deleted', async ({ endings, events, users, owner }) => {
    await events.add([anEvent({ userId: owner, kind: 'deleted' })]);
    await users.remove(owner);
    expect(await endings.list(0, 9)).toMatchObject([{ userId: owner, reason: 'account-deleted' }]);
  });

  it('purges what ended until a time, at most as many as it is asked to', async ({ endings }) => {
    const all = [2, 0, 1].map((at) => anEnded({ at: NOW + at }));
    for (const each of all) await endings.add(each);
    const purged = [];
    for (let round = 0; round < 3; round += 1) purged.push(await endings.purge(NOW + 1, 1));
    expect(purged).toEqual([1, 1, 0]);
    expect(idsOf(await endings.list(0, 9))).toEqual([all[0]?.id]);
  });
};
