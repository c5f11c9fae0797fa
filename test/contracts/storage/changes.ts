import {
  codesOf,
  factorsOf,
  linkByToken,
  passkeysOf,
  putLink,
  storeCodes,
  useOnce,
} from '../../../src/application/storage/credentials.ts';
import { eventsOf as listed } from '../../../src/application/storage/events.ts';
import { addMessages, messagesOf } from '../../../src/application/storage/outbox.ts';
import type { Stores } from '../../../src/application/storage/records.ts';
import { partWithUser } from '../../../src/domain/session.ts';
import type { User } from '../../../src/domain/user.ts';
import { aFactor, aLink, aMessage, anEvent, anId, aPasskey, aSession, aUser, NOW } from '../../support/builders.ts';
import { storeEvents } from '../../support/stored-events.ts';
import { foundWithUser } from './given-sessions.ts';

export const REFUSAL = new Error('the work failed');
export const eventsOf = ({ records }: Stores, { id }: User) =>
  listed(records, { userId: id, before: null, limit: 1_000 });

/** Changes every store, and returns what is stored then. */
export const changeAll = (user: User) => {
  const [added, session, ended] = [aUser(), aSession({ userId: user.id }), aSession({ userId: user.id })];
  const event = anEvent({ userId: user.id });
  const [link, message] = [aLink({ userId: user.id }), aMessage({ userId: user.id })];
  const [passkey, factor] = [aPasskey({ userId: user.id }), aFactor({ userId: user.id })];
  const value = `value ${anId()}`;
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
    await addMessages(stores, [message]);
    await records.insert('passkeys', passkey);
    await records.insert('factors', factor);
    await storeCodes(records, user.id, ['a hash']);
    await useOnce(records, value, NOW);
  };
  const seenIn = async (stores: Stores) => ({
    added: await stores.users.findById(added.id),
    user: await stores.users.findById(user.id),
    session: await stores.sessions.find(session),
    ended: await stores.sessions.find(ended),
    withUser: await foundWithUser(stores.sessions, ended),
    events: await eventsOf(stores, user),
    link: await linkByToken(stores.records, link.purpose, link.tokenHash, NOW),
    messages: await messagesOf(stores.records, user.id),
    passkeys: await passkeysOf(stores.records, user.id),
    factors: await factorsOf(stores.records, user.id),
    recoveryCodes: (await codesOf(stores.records, user.id)).length,
    // A use is the only way to see one. It waits for a unit that has used the value.
    isFirstUse: await useOnce(stores.records, value, NOW),
  });
  return {
    work,
    seenIn,
    prepare: ({ sessions }: Stores) => sessions.add(ended),
    before: {
      added: null,
      user,
      session: null,
      ended,
      withUser: { user, session: partWithUser(ended) },
      events: [],
      link: null,
      messages: [],
      passkeys: [],
      factors: [],
      recoveryCodes: 0,
      isFirstUse: true,
    },
    after: {
      added,
      user: changed,
      session,
      ended: null,
      withUser: { user: changed, session: null },
      events: [event],
      link,
      messages: [message],
      passkeys: [passkey],
      factors: [factor],
      recoveryCodes: 1,
      isFirstUse: false,
    },
  };
};
