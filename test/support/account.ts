import { storageWithListeners } from '../../src/adapters/records/storage.ts';
import { reserveUndo } from '../../src/application/links.ts';
import {
  devicesOf,
  factorsOf,
  linksOf,
  passkeysOf,
  recoveryCodesOf,
} from '../../src/application/storage/credentials.ts';
import { eventsOf } from '../../src/application/storage/events.ts';
import { messagesOf } from '../../src/application/storage/outbox.ts';
import type { Storage, Stores } from '../../src/application/storage/records.ts';
import type { AccountEvent, Origin } from '../../src/domain/event.ts';
import { NOTICE_GROUPS, type NoticeGroup } from '../../src/domain/event-table.ts';
import type { LinkPurpose } from '../../src/domain/link.ts';
import type { MessageDraft } from '../../src/domain/message.ts';
import { ADA } from './application.ts';
import { applicationWithMail, tokenIn } from './mail/sender.ts';

/** Ada's address in its stored form. */
export const EMAIL = 'ada@example.org';
export const BOB = { username: 'Bob', email: 'bob@example.org', password: 'staple battery' };
export const ORIGIN: Origin = { userAgent: 'a laptop', address: '192.0.2.0/24', requestId: 'a request' };
export const INVALID_LINK = { code: 'AUTH_LINK_INVALID' };
export const DUPLICATE = { code: 'AUTH_USER_DUPLICATE' };
export const NO_RECORD = { code: 'DB_RECORD_NOT_FOUND' };
export const WRONG_PASSWORD = { code: 'AUTH_CREDENTIALS_INVALID' };
/** An access token whose session has ended, or whose account is disabled. */
export const TOKEN_INVALID = { code: 'AUTH_TOKEN_INVALID' };

/** An event as a short text: its kind, and the reason for the end of a session. */
export const summaryOf = ({ kind, reason }: AccountEvent): string => (reason === null ? kind : `${kind}: ${reason}`);

/** Registers Ada, with one session, in an application that sends mail. */
export const registeredAda = async (given: { readonly mailNotices?: readonly NoticeGroup[] } = {}) => {
  const mailNotices = new Set(given.mailNotices ?? NOTICE_GROUPS);
  const app = { ...applicationWithMail({ mailNotices }), mailNotices };
  const { user, ...session } = await app.register(ADA);
  const about = (userId: string) => storedAbout(app, userId, app.clock.now());
  const ofAda = () => about(user.id);
  return {
    app,
    user,
    session,
    /** Everything that is stored about a user. */
    about,
    /** Everything that is stored about Ada. */
    ofAda,
    /** Ada's events in short, the latest first. */
    happened: async () => (await ofAda()).events.map(summaryOf),
    /** The messages to Ada that wait to be sent. */
    pending: async () => (await ofAda()).messages.map(({ kind, to }) => `${kind} to ${to}`),
    /** The purposes of Ada's valid links. */
    purposes: async () => (await ofAda()).links.map(({ purpose }) => purpose).sort(),
    /** Sends a message about Ada. @returns the token of a link in it. */
    linkIn: async (draft: Omit<MessageDraft, 'userId'>, purpose: LinkPurpose): Promise<string> => {
      const about = { id: user.id, email: draft.to };
      const undo = purpose === 'factors-undo' ? { createdAt: await reserveUndo(app, app, about, []) } : {};
      await app.enqueue({ ...draft, ...undo, userId: user.id });
      const mails = await app.sendAll();
      return tokenIn(mails.at(-1) ?? { text: 'nothing' }, purpose);
    },
    logIn: (password = ADA.password) => app.login({ account: ADA.username, password }),
    /** Stores a password hash, as a concurrent request would. @param isNew whether the password is another one */
    setPassword: async (password: string, { isNew }: { readonly isNew: boolean }) => {
      const passwordHash = await app.hasher.hash(password);
      await app.users.setPasswordHash(user.id, { passwordHash, isOfNewPassword: isNew, now: app.clock.now() });
    },
    setDisabled: (disabledAt: number | null) => app.users.update(user.id, { disabledAt, now: app.clock.now() }),
  };
};

const storedAbout = async (stores: Stores, userId: string, now: number) => ({
  user: await stores.users.findById(userId),
  sessions: await stores.sessions.listByUser(userId, now),
  events: await eventsOf(stores.records, { userId, before: null, limit: 10_000 }),
  links: await linksOf(stores.records, userId, now),
  messages: await messagesOf(stores.records, userId),
  passkeys: await passkeysOf(stores.records, userId),
  factors: await factorsOf(stores.records, userId),
  recoveryCodes: (await recoveryCodesOf(stores.records, userId)).length,
  devices: await devicesOf(stores.records, userId, now),
});

/** What is stored about a user who does not exist. */
export const NO_DATA = {
  user: null,
  sessions: [],
  events: [],
  links: [],
  messages: [],
  passkeys: [],
  factors: [],
  recoveryCodes: 0,
  devices: [],
};

/** Dependencies whose transactions add their events to `audit`. */
export const withAudit = <Deps extends Storage>(deps: Deps) => {
  const audit: AccountEvent[] = [];
  const { transactions } = storageWithListeners(deps, { onEvents: (events) => audit.push(...events) });
  return { deps: { ...deps, transactions }, audit };
};
