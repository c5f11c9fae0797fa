import { linkByToken, putLink } from '../../../src/application/storage/credentials.ts';
import { eventsOf as listed } from '../../../src/application/storage/events.ts';
import type { Stores } from '../../../src/application/storage/records.ts';
import { partWithUser } from '../../../src/domain/session.ts';
import type { User } from '../../../src/domain/user.ts';
import { aLink, anEvent, aSession, aUser, NOW } from '../../support/builders.ts';
import { storeEvents } from '../../support/stored-events.ts';
import { foundWithUser } from './given-sessions.ts';

export const REFUSAL = new Error('the work failed');
export const eventsOf = ({ records }: Stores, { id }: User) =>
  listed(records, { userId: id, before: null, limit: 1_000 });

/** Changes users, sessions and records, and returns what is stored then. */
export const changeAll = (user: User) => {
  const [added, session, ended] = [aUser(), aSession({ userId: user.id }), aSession({ userId: user.id })];
  const [event, link] = [anEvent({ userId: user.id }), aLink({ userId: user.id })];
  const changed = { ...user, username: `${user.username}.new`, passwordHash: 'new', updatedAt: NOW + 2 };
  const work = async (stores: Stores): Promise<void> => {
    const { users, sessions, records } = stores;
    await users.add(added);
    await users.update(user.id, { username: changed.username, now: NOW + 1 });
    await users.setPasswordHash(user.id, { passwordHash: 'new', isOfNewPassword: false, now: NOW + 2 });
    await sessions.end(ended);
    await sessions.add(session);
    await storeEvents(stores, [event]);
    await putLink(records, link);
  };
  const seenIn = async (stores: Stores) => ({
    added: await stores.users.findById(added.id),
    user: await stores.users.findById(user.id),
    session: await stores.sessions.find(session),
    ended: await stores.sessions.find(ended),
    withUser: await foundWithUser(stores.sessions, ended),
    events: await eventsOf(stores, user),
    link: await linkByToken(stores.records, link.purpose, link.tokenHash, NOW),
  });
  return {
    work,
    seenIn,
    prepare: ({ sessions }: Stores) => sessions.add(ended),
    before: {
      ...{ added: null, user, session: null, ended, events: [], link: null },
      withUser: { user, session: partWithUser(ended) },
    },
    after: {
      ...{ added, user: changed, session, ended: null, events: [event], link },
      withUser: { user: changed, session: null },
    },
  };
};
