import type { EventKind } from '../../domain/event.ts';
import { isLinkAllowed, LINK_SPACING, LINKS_PERIOD, type Link, type LinkPurpose } from '../../domain/link.ts';
import { MAIL_INTERVAL, mailBurst, mailboxOf } from '../../domain/mailbox.ts';
import { isRequest, type Message, type RequestKind } from '../../domain/message.ts';
import type { User } from '../../domain/user.ts';
import type { LinkTokens } from '../ports/link-tokens.ts';
import type { Mail } from '../ports/mailer.ts';
import type { Stores } from '../ports/unit-of-work.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import { type RecordDeps, record } from '../steps/record.ts';
import type { MailContext } from './layout.ts';
import { type SentMessage, templateFor, type WantedLink } from './templates.ts';

export type PrepareMailDeps = RecordDeps & {
  readonly linkTokens: LinkTokens;
  readonly mailContext: MailContext;
};

/** The mail that answers a request, and the event that records it. */
const REQUESTS = {
  'password-reset-request': { kind: 'password-reset', event: 'password-reset-requested' },
  'email-verification-request': { kind: 'email-verification', event: 'email-verification-requested' },
} as const satisfies Record<RequestKind, { kind: LinkPurpose & SentMessage['kind']; event: EventKind }>;

/**
 * Makes the mail of a message, and stores its links, in a unit of work. Links of an earlier attempt are replaced.
 * @returns `null` when there is nothing to send: the user or the message is gone, the message is out of date, or a limit is reached.
 */
export const prepareMail = async (deps: PrepareMailDeps, stores: Stores, message: Message): Promise<Mail | null> => {
  const { users, links, outbox } = stores;
  const user = await lockedUser(users, message);
  if (user === null) return null;
  const live = await links.listByUser(user.id, deps.clock.now());
  const { kind } = isRequest(message) ? REQUESTS[message.kind] : (message as SentMessage);
  const template = templateFor({ ...message, kind }, user, deps.mailContext, live);
  if (template === null) return null;
  if (isRequest(message) && !(await isAdmitted(deps, stores, { message, user, live }))) return null;
  if (!(await mayBeMailed(deps, stores, { ...message, kind }, user))) return null;
  // Locks the message. A password reset, which removes messages and links, waits for this lock and then finds the links.
  if (!(await outbox.identify(message.id, { kind, userId: user.id }))) return null;
  if (isRequest(message)) {
    await record(deps, stores, message.origin, [{ userId: user.id, kind: REQUESTS[message.kind].event }]);
  }
  const urls = await storeLinks(deps, stores, user, template.links);
  return { id: message.id, to: message.to, ...template.write((purpose) => urls.get(purpose) ?? '') };
};

/**
 * Finds and locks the user of a message. The lock comes first, since two requests of one user may be answered at the same time, and
 * since use cases that remove links lock the user before the message, too.
 */
const lockedUser = async (users: UserRepository, { userId, to }: Message): Promise<User | null> => {
  const id = userId ?? (await users.findByEmail(to))?.id;
  if (id === undefined) return null;
  return users.lock(id);
};

/**
 * Whether the mailbox may get the mail. An address that is not verified may belong to somebody else, so all accounts together may send it
 * a limited number of mails. Only the first attempt of a mail is counted.
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

type PendingRequest = {
  readonly message: Message & { readonly kind: RequestKind };
  readonly user: User;
  readonly live: readonly Link[];
};

/** Whether a request is answered. It is not while the mail of an earlier one waits, which would replace the link of this one. */
const isAdmitted = async (
  { clock }: RecordDeps,
  { events, outbox }: Stores,
  { message, user, live }: PendingRequest,
) => {
  const { kind, event } = REQUESTS[message.kind];
  const waiting = await outbox.listByUser(user.id);
  if (waiting.some((other) => other.kind === kind)) return false;
  const countSince = (period: number) => events.countSince(user.id, event, clock.now() - period);
  return isLinkAllowed({
    lately: await countSince(LINK_SPACING),
    inPeriod: await countSince(LINKS_PERIOD),
    hasLive: live.some(({ purpose }) => purpose === kind),
  });
};

/** @returns the URLs of the links, by purpose. The token is in the fragment, which browsers do not send. */
const storeLinks = async (
  { clock, linkTokens, mailContext }: PrepareMailDeps,
  { links }: Stores,
  { id: userId }: User,
  wanted: readonly WantedLink[],
): Promise<ReadonlyMap<LinkPurpose, string>> => {
  const createdAt = clock.now();
  const urls = new Map<LinkPurpose, string>();
  for (const { purpose, email, ...ending } of wanted) {
    const token = linkTokens.next();
    const expiresAt = 'expiresAt' in ending ? ending.expiresAt : createdAt + ending.lifetime;
    await links.put({ userId, purpose, tokenHash: linkTokens.hashOf(token), email, createdAt, expiresAt });
    urls.set(purpose, `${mailContext.pagesUrl}/${purpose}#token=${token}`);
  }
  return urls;
};
