import type { EventKind } from '../../domain/event.ts';
import { LINK_SPACING, LINKS_PERIOD, type Link, type LinkPurpose, mayAskForLink } from '../../domain/link.ts';
import { MAIL_INTERVAL, mailBurst, mailboxOf } from '../../domain/mailbox.ts';
import { isRequest, type Message, type RequestKind } from '../../domain/message.ts';
import type { User } from '../../domain/user.ts';
import type { LinkTokens } from '../ports/link-tokens.ts';
import type { Mail } from '../ports/mailer.ts';
import type { Stores } from '../ports/unit-of-work.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import { type RecordDeps, record } from '../steps/record.ts';
import type { MailContext } from './layout.ts';
import { letterFor, type SentMessage, type WantedLink } from './templates.ts';

export type PrepareMailDeps = RecordDeps & {
  readonly linkTokens: LinkTokens;
  readonly mailContext: MailContext;
};

/** What a request becomes, and the event that tells it. */
const REQUESTS = {
  'password-reset-request': { kind: 'password-reset', event: 'password-reset-requested' },
  'email-verification-request': { kind: 'email-verification', event: 'email-verification-requested' },
} as const satisfies Record<RequestKind, { kind: LinkPurpose & SentMessage['kind']; event: EventKind }>;

/**
 * Makes the mail of a message, with its links, in a unit of work. The links are stored before the mail is sent; those of an earlier
 * attempt are replaced.
 * @returns `null` when there is nothing to send: the user or the message is gone, the message is out of date, or too many were asked for.
 */
export const prepareMail = async (deps: PrepareMailDeps, stores: Stores, message: Message): Promise<Mail | null> => {
  const { users, links, outbox } = stores;
  const user = await lockedUser(users, message);
  if (user === null) return null;
  const live = await links.listByUser(user.id, deps.clock.now());
  const { kind } = isRequest(message) ? REQUESTS[message.kind] : (message as SentMessage);
  const letter = letterFor({ ...message, kind }, user, deps.mailContext, live);
  if (letter === null) return null;
  if (isRequest(message) && !(await isAdmitted(deps, stores, { message, user, live }))) return null;
  if (!(await mayBeMailed(deps, stores, { ...message, kind }, user))) return null;
  // Locks the message: what removes it together with links (a reset of the password) waits, and then finds the links.
  if (!(await outbox.identify(message.id, { kind, userId: user.id }))) return null;
  if (isRequest(message)) {
    await record(deps, stores, message.origin, [{ userId: user.id, kind: REQUESTS[message.kind].event }]);
  }
  const addresses = await makeLinks(deps, stores, user, letter.links);
  return { id: message.id, to: message.to, ...letter.write((purpose) => addresses.get(purpose) ?? '') };
};

/**
 * The user that a message is about, who is locked before anything of theirs is read or changed: two requests may be answered at the same
 * time, and what removes links locks the user before the message, too.
 */
const lockedUser = async (users: UserRepository, { userId, to }: Message): Promise<User | null> => {
  const id = userId ?? (await users.findByEmail(to))?.id;
  if (id === undefined) return null;
  await users.lock(id);
  return users.findById(id);
};

/**
 * Whether the mailbox may get the mail. An address that is not proven may be that of somebody else, who gets a limited number from all
 * accounts. A further attempt was counted with the first.
 */
const mayBeMailed = async (
  { clock, linkTokens }: PrepareMailDeps,
  { outbox }: Stores,
  { kind, to, attempts }: Pick<Message, 'kind' | 'to' | 'attempts'>,
  { email, emailVerifiedAt }: User,
): Promise<boolean> => {
  if (attempts > 1 || (to === email && emailVerifiedAt !== null)) return true;
  const mailbox = linkTokens.hashOf(mailboxOf(to));
  return outbox.admit({ mailbox, now: clock.now(), burst: mailBurst(kind), interval: MAIL_INTERVAL });
};

type Asked = {
  readonly message: Message & { readonly kind: RequestKind };
  readonly user: User;
  readonly live: readonly Link[];
};

/** Not while the answer to an earlier request is still waiting, which would replace the link of this one. */
const isAdmitted = async ({ clock }: RecordDeps, { events, outbox }: Stores, { message, user, live }: Asked) => {
  const { kind, event } = REQUESTS[message.kind];
  const waiting = await outbox.listByUser(user.id);
  if (waiting.some((other) => other.kind === kind)) return false;
  const countSince = (period: number) => events.countSince(user.id, event, clock.now() - period);
  return mayAskForLink({
    lately: await countSince(LINK_SPACING),
    inPeriod: await countSince(LINKS_PERIOD),
    hasLive: live.some(({ purpose }) => purpose === kind),
  });
};

/** @returns the addresses of the links, by purpose. The token is in the fragment, which browsers do not send. */
const makeLinks = async (
  { clock, linkTokens, mailContext }: PrepareMailDeps,
  { links }: Stores,
  { id: userId }: User,
  wanted: readonly WantedLink[],
): Promise<ReadonlyMap<LinkPurpose, string>> => {
  const createdAt = clock.now();
  const addresses = new Map<LinkPurpose, string>();
  for (const { purpose, email, ...ending } of wanted) {
    const token = linkTokens.next();
    const expiresAt = 'expiresAt' in ending ? ending.expiresAt : createdAt + ending.lifetime;
    await links.put({ userId, purpose, tokenHash: linkTokens.hashOf(token), email, createdAt, expiresAt });
    addresses.set(purpose, `${mailContext.pagesUrl}/${purpose}#token=${token}`);
  }
  return addresses;
};
