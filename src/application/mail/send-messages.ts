import type { EventKind } from '../../domain/event.ts';
import { EMAIL_LINK_LIFETIME, LINK_SPACING, type Link } from '../../domain/link.ts';
import {
  hasLoginCode,
  isGivenUp,
  isRequest,
  type Message,
  mailLimits,
  type RequestKind,
  retryDelay,
} from '../../domain/message.ts';
import { INVITATION_LIFETIME } from '../../domain/registration.ts';
import { isConfirmed } from '../../domain/second-factor.ts';
import type { User } from '../../domain/user.ts';
import { admitCode, codeFor, expiryOf, newConfirmationCode } from '../login-code.ts';
import type { Mail, Mailer } from '../ports/mailer.ts';
import type { Secrets } from '../ports/secrets.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import type { Report } from '../report.ts';
import { findByAccount, record, type Sources } from '../service.ts';
import * as credentials from '../storage/credentials.ts';
import { countEvents, knowsDevice } from '../storage/events.ts';
import * as outbox from '../storage/outbox.ts';
import type { Records, Stores, Transactions } from '../storage/records.ts';
import type { LinkToStore, RemainingWays, SentMessage } from './mail-of-message.ts';
import type { MailSettings, MailTemplates } from './write-mail.ts';

type MailContext = MailSettings & {
  /** The URL of the pages, without a slash at its end. The page of a link has the name of its purpose. */
  readonly pagesUrl: string;
  readonly codePage: string;
  readonly templates: () => Promise<MailTemplates>;
  /** @returns a function that names the device of a user agent, and returns `null` if it cannot. Default: mails show the user agent. */
  readonly deviceNames?: () => Promise<(userAgent: string) => string | null>;
};

type PrepareMailDeps = Sources & { readonly secrets: Secrets; readonly mailContext: MailContext };

const REQUESTED_MAILS = {
  'password-reset-request': { kind: 'password-reset', event: 'password-reset-requested' },
  'email-verification-request': { kind: 'email-verification', event: 'email-verification-requested' },
  'login-code-request': { kind: 'login-code', event: 'login-code-requested' },
  'new-device-code-request': { kind: 'new-device-code', event: 'login-code-requested' },
} as const satisfies Record<RequestKind, { kind: SentMessage['kind']; event: EventKind }>;

/** Loads the modules that write mail, so that neither the start (ADR 0021) nor a transaction waits for them. */
export const loadMailWriter = async ({ mailContext }: PrepareMailDeps) => {
  const { mailOfMessage } = await import('./mail-of-message.ts');
  const { writeMail } = await import('./write-mail.ts');
  const templates = await mailContext.templates();
  const nameOf = await mailContext.deviceNames?.();
  const deviceName = (userAgent: string) => nameOf?.(userAgent) ?? userAgent;
  return { mailOfMessage, writeMail, templates, deviceName };
};
type MailWriter = Awaited<ReturnType<typeof loadMailWriter>>;

/**
 * Makes the mail of a message, and stores its links in place of those of earlier attempts, in a transaction.
 * @returns `null` when there is nothing to send, for instance since the message is gone or out of date, or a limit is reached.
 */
export const prepareMail = async (deps: PrepareMailDeps, stores: Stores, waiting: Message, writer: MailWriter) => {
  if (waiting.kind === 'invitation') return prepareInvitation(deps, stores, waiting, writer);
  if (waiting.kind === 'new-device-code-request' && !waiting.wasVerified) return null;
  const { mailOfMessage, writeMail, templates, deviceName } = writer;
  const { users, records } = stores;
  const user = await lockedRecipient(users, waiting);
  if (user === null) return null;
  const isFinished = () => knowsDevice(deps, records, user.id, waiting.origin);
  if (waiting.kind === 'second-factor-missing' && (await isFinished())) return null;
  const code = hasLoginCode(waiting) ? { id: waiting.id, askedAt: waiting.createdAt } : null;
  const message = code === null ? waiting : { ...waiting, to: user.email };
  const live = await credentials.linksOf(records, user.id, deps.clock.now());
  const { kind } = isRequest(message) ? REQUESTED_MAILS[message.kind] : (message as SentMessage);
  const data = {
    links: live,
    remaining: () => remainingWays(stores, user),
    newCode: () => newConfirmationCode(deps, user),
    deviceName,
    code: code !== null && deps.clock.now() < expiryOf(code) ? codeFor(deps, code, user) : null,
  };
  const mail = await mailOfMessage({ ...message, kind }, user, data);
  if (mail === null) return null;
  if (isRequest(message) && !(await isAdmitted(deps, stores, message, user.id, live))) return null;
  // A mail is counted once at most: at its first attempt or, if it began as a request, before `identifyMessage` gives it its kind. A `password-reset`
  // that never was a request is not counted: it comes from an operator, or from an undo, whose link has proven the address.
  const isUnlimited = message.kind === 'password-reset' || (message.attempts > 1 && !isRequest(message));
  if (!isUnlimited && !(await mayBeMailed(deps, stores, { ...message, kind }, user))) return null;
  // A use case may have withdrawn the message, with its links, before this transaction locked the user.
  if (!(await outbox.identifyMessage(records, message.id, { kind, userId: user.id }))) return null;
  if (isRequest(message)) {
    await record(deps, stores, message.origin, [{ userId: user.id, kind: REQUESTED_MAILS[message.kind].event }]);
  }
  if (code !== null) await admitCode(stores, code);
  const { template, links: wanted } = mail;
  const values = { ...mail.values, ...(await storeLinks(deps, stores, user, wanted)) };
  const locale = message.locale ?? user.locale;
  return { id: message.id, to: message.to, ...writeMail(templates, deps.mailContext, { template, values, locale }) };
};

/** @returns `null` if the invitation has expired, or was used, revoked or replaced meanwhile, or if a limit is reached. */
const prepareInvitation = async (
  deps: PrepareMailDeps,
  stores: Stores,
  message: Message,
  { writeMail, templates }: MailWriter,
): Promise<Mail | null> => {
  const { clock, secrets, mailContext } = deps;
  const { id, to: email, locale, attempts, createdAt } = message;
  const now = clock.now();
  const invitation = await credentials.findInvitation(stores.records, { email }, now);
  if (invitation?.createdAt !== createdAt) return null;
  const mayBeSent = () =>
    mayBeMailed(deps, stores, { ...message, kind: 'invitation' }, { email, emailVerifiedAt: null });
  if (attempts <= 1 && !(await mayBeSent())) return null;
  // An invitation that is revoked or used at this moment must not come back with another token.
  if (!(await credentials.takeInvitation(stores.records, invitation, now))) return null;
  const token = secrets.random();
  const expiresAt = now + INVITATION_LIFETIME;
  await credentials.putInvitation(stores.records, { ...invitation, tokenHash: secrets.hashOf(token), expiresAt });
  const link = `${mailContext.pagesUrl}/invitation#token=${token}&email=${encodeURIComponent(email)}`;
  const values = { link, validFor: { duration: INVITATION_LIFETIME } };
  return { id, to: email, ...writeMail(templates, mailContext, { template: 'invitation', values, locale }) };
};

const remainingWays = async ({ records }: Stores, { id }: User): Promise<RemainingWays> => ({
  passkeys: (await credentials.passkeysOf(records, id)).map(({ name }) => name),
  apps: `${(await credentials.factorsOf(records, id)).filter(isConfirmed).length}`,
  signIns: (await credentials.identitiesOf(records, id)).map(({ provider, email }) =>
    `${provider} ${email ?? ''}`.trim(),
  ),
});

/** Locks the user of a message. The user is locked before the message is changed, as in use cases that withdraw messages. */
const lockedRecipient = async (users: UserRepository, { userId, to }: Message): Promise<User | null> => {
  const id = userId ?? (await findByAccount({ users }, to))?.id;
  return id === undefined ? null : users.lock(id);
};

/** Counts a mail in the limits of its address, up to the first one that is reached. @returns whether none is reached. */
const mayBeMailed = async (
  deps: PrepareMailDeps,
  { records }: Stores,
  message: SentMessage,
  { id, email, emailVerifiedAt }: Partial<Pick<User, 'id'>> & Pick<User, 'email' | 'emailVerifiedAt'>,
): Promise<boolean> => {
  const isProven = message.wasVerified || (message.to === email && emailVerifiedAt !== null);
  const isKnownDevice =
    hasLoginCode(message) && id !== undefined && (await knowsDevice(deps, records, id, message.origin));
  for (const { key: of, ...limit } of mailLimits(message, { isProven, isKnownDevice })) {
    if (!(await outbox.admitMail(records, { mailbox: deps.secrets.hashOf(of), now: deps.clock.now(), ...limit })))
      return false;
  }
  return true;
};

/** Whether a request gets its mail: not if it would replace a link that is on its way, or that was requested within `LINK_SPACING`. */
const isAdmitted = async (
  { clock }: Sources,
  { records }: Stores,
  message: Message & { readonly kind: RequestKind },
  userId: string,
  live: readonly Link[],
) => {
  const { kind, event } = REQUESTED_MAILS[message.kind];
  if (hasLoginCode({ kind })) return true;
  const waiting = await outbox.messagesOf(records, userId);
  if (waiting.some((other) => other.kind === kind)) return false;
  if (!live.some(({ purpose }) => purpose === kind)) return true;
  return (await countEvents(records, userId, event, clock.now() - LINK_SPACING)) === 0;
};

/** @returns the URLs of links and pages, by the names of their variables. A token is in the fragment, which browsers do not send to servers. */
const storeLinks = async (
  { clock, secrets, mailContext }: PrepareMailDeps,
  { records }: Stores,
  { id: userId }: User,
  wanted: readonly LinkToStore[],
): Promise<Readonly<Record<string, string>>> => {
  const createdAt = clock.now();
  const { pagesUrl, codePage } = mailContext;
  const urls: Record<string, string> = { resetPage: `${pagesUrl}/password-reset`, codePage };
  for (const { variable, purpose, email, since = 0, keeps = null, lifetime = EMAIL_LINK_LIFETIME, ...link } of wanted) {
    const token = secrets.random();
    const { tokenHash = secrets.hashOf(token), expiresAt = createdAt + lifetime } = link;
    await credentials.putLink(records, { userId, purpose, tokenHash, email, since, keeps, createdAt, expiresAt });
    urls[variable] = `${pagesUrl}/${purpose}#token=${token}`;
  }
  return urls;
};

type SendMessagesDeps = PrepareMailDeps & {
  readonly records: Records;
  readonly transactions: Transactions;
  readonly mailer: Mailer;
  readonly random: () => number;
  readonly report?: Report;
};

/** Milliseconds: longer than an attempt takes, so that no other instance claims a message that is being sent. */
const LEASE = 5 * 60_000;

/**
 * Begins to send the messages that are due, at most `limit`. A mail may be sent twice, for instance if the process ends before the message is removed.
 * @param lastPolledAt messages that wait for a poll (`waitsForPoll`) are sent only if they were due at this time. Default: now.
 * @returns a promise for each attempt, which never rejects
 */
export const sendMessages =
  (deps: SendMessagesDeps) =>
  async (limit: number, lastPolledAt?: number): Promise<readonly Promise<void>[]> => {
    const now = deps.clock.now();
    const claimed = await outbox.claimMessages(deps.records, { now, lastPolledAt, until: now + LEASE, limit });
    return claimed.map((message) => attempt(deps, message));
  };

const attempt = async (deps: SendMessagesDeps, message: Message): Promise<void> => {
  const { records, transactions, mailer, report } = deps;
  try {
    const writer = await loadMailWriter(deps);
    const mail = await transactions.run((stores) => prepareMail(deps, stores, message, writer));
    const outcome = mail === null ? 'dropped' : await mailer.send(mail);
    await outbox.deleteMessages(records, [message.id]);
    report?.('mail', outcome, message);
  } catch (error) {
    await tryAgainLater(deps, message, error);
  }
};

const tryAgainLater = async (deps: SendMessagesDeps, message: Message, error: unknown): Promise<void> => {
  const { records, clock, random, report } = deps;
  const now = clock.now();
  const outcome = isGivenUp(message, now) ? 'given-up' : 'failed';
  try {
    if (outcome === 'given-up') await outbox.deleteMessages(records, [message.id]);
    else await outbox.postponeMessage(records, message.id, now + retryDelay(message.attempts, random()));
  } catch {
    // The store has failed. The message is claimed again when its lease ends.
  }
  report?.('mail', outcome, message, error);
};
