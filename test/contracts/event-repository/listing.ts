import { expect } from 'vitest';
import { type AccountEvent, EVENT_KINDS, SESSION_ENDINGS } from '../../../src/domain/event.ts';
import { anEvent, anId, NOW } from '../../support/builders.ts';
import type { Tests } from '../suite.ts';
import { type GivenEvents, listAll, NOWHERE, ORIGIN, series } from './store.ts';

export const listing = ({ it }: Tests<GivenEvents>): void => {
  it('lists the events of one user, the latest first', async ({ repository, owner, otherUser }) => {
    const events = [
      ...EVENT_KINDS.map((kind) => anEvent({ userId: owner, kind, ...ORIGIN })),
      ...SESSION_ENDINGS.map((reason) =>
        anEvent({ userId: owner, kind: 'session-ended', sessionId: anId(), reason, ...NOWHERE }),
      ),
      anEvent({ userId: owner, actor: 'Ünna' }),
    ];
    await repository.add([]);
    await repository.add(events.slice(0, 1));
    await repository.add([...events.slice(1), anEvent({ userId: otherUser })]);
    expect(await listAll(repository, owner)).toStrictEqual(events.toReversed());
    const [returned] = await listAll(repository, owner);
    Object.assign(returned ?? {}, { kind: 'registered', at: 0 });
    expect(await listAll(repository, owner)).toStrictEqual(events.toReversed());
  });

  it('continues a list after the last event of the page before', async ({ repository, owner }) => {
    // All at the same time: the ids decide.
    const events = series(owner, 25, { at: NOW }).toReversed();
    await repository.add(events);
    const pages: AccountEvent[][] = [];
    for (let before: string | null = null; pages.length < 10; ) {
      const page = await repository.list({ userId: owner, before, limit: 10 });
      if (page.length === 0) break;
      pages.push(page);
      before = page.at(-1)?.id ?? null;
    }
    expect(pages.map(({ length }) => length)).toEqual([10, 10, 5]);
    expect(pages.flat()).toStrictEqual(events);
  });

  it('lists nothing of another user', async ({ repository, owner, otherUser, stranger }) => {
    const [own, others] = [series(owner, 2), series(otherUser, 2)];
    await repository.add([...own, ...others]);
    for (const id of [stranger, own[0]?.id ?? '', '', 'no id', '\0']) expect(await listAll(repository, id)).toEqual([]);
    // Also when the cursor is an event of another user.
    const page = await repository.list({ userId: owner, before: others[1]?.id ?? null, limit: 10 });
    expect(page).toStrictEqual(own.toReversed());
  });

  it('ignores an event of an unknown user, and adds those of others', async ({ repository, owner, stranger }) => {
    const own = anEvent({ userId: owner });
    await repository.add([anEvent({ userId: stranger }), own]);
    expect(await listAll(repository, stranger)).toEqual([]);
    expect(await listAll(repository, owner)).toStrictEqual([own]);
  });

  it('loses the events of a user who is deleted', async ({ repository, store, owner, otherUser }) => {
    const ofOther = series(otherUser, 2);
    await repository.add([...series(owner, 2), ...ofOther]);
    await store.deleteUser(owner);
    expect(await listAll(repository, owner)).toEqual([]);
    expect(await repository.countSince(owner, 'logged-in', 0)).toBe(0);
    expect(await listAll(repository, otherUser)).toStrictEqual(ofOther.toReversed());
  });
};
