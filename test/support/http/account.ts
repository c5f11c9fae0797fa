import { expect } from 'vitest';
import { putInvitation, putLink, linksOf as storedLinks } from '../../../src/application/storage/credentials.ts';
import { eventsOf as storedEvents } from '../../../src/application/storage/events.ts';
import { messagesOf } from '../../../src/application/storage/outbox.ts';
import type { AccountEvent } from '../../../src/domain/event.ts';
import type { LinkPurpose } from '../../../src/domain/link.ts';
import type { Message } from '../../../src/domain/message.ts';
import { anIdentity, anInvitation } from '../builders.ts';
import type { memoryMailer } from '../mail/memory-mailer.ts';
import { aPerson, hasher, type Own, startService, type TestService } from './service.ts';

const DAY = 86_400_000;

export const serviceStarter =
  () =>
  (env: Readonly<Record<string, string>> = {}, own: Own = {}): Promise<TestService> =>
    startService(env, { hasher, ...own });

type ForLink = { readonly userId: string; readonly purpose: LinkPurpose; readonly email: string };

/** Stores a link, as the sender of mail does. @returns the token of the link */
export const storeLink = async ({ ports }: TestService, link: ForLink, lifetime = DAY): Promise<string> => {
  const token = ports.secrets.random();
  const createdAt = ports.clock.now();
  const tokenHash = ports.secrets.hashOf(token);
  const former = (await storedLinks(ports.records, link.userId, createdAt)).find(
    ({ purpose }) => purpose === link.purpose,
  );
  await putLink(ports.records, {
    ...link,
    tokenHash,
    since: former?.since ?? 0,
    keeps: former?.keeps ?? null,
    createdAt,
    expiresAt: createdAt + lifetime,
  });
  return token;
};

/** Sends all mail that is due. */
export const deliver = async ({ mail }: Pick<TestService, 'mail'>): Promise<void> => {
  for (;;) {
    const attempts = (await mail?.send(10)) ?? [];
    if (attempts.length === 0) return;
    await Promise.all(attempts);
  }
};

/** Sends due mail. @returns the code in the last mail to the address that contains a code */
export const mailedCode = async (
  service: Pick<TestService, 'mail'>,
  { mails }: ReturnType<typeof memoryMailer>,
  email: string,
): Promise<string> => {
  await deliver(service);
  const codes = mails.filter(({ to }) => to === email).flatMap(({ text }) => /^\d{8}$/m.exec(text)?.[0] ?? []);
  return codes.at(-1) ?? expect.unreachable(`no mail to ${email} has a code`);
};

/** Stores an invitation for a new person. @returns the person, with the token of the invitation */
export const invitedPerson = async ({ ports }: TestService, attributes = {}) => {
  const [person, invitation, createdAt] = [aPerson(), ports.secrets.random(), ports.clock.now()];
  const tokenHash = ports.secrets.hashOf(invitation);
  const of = { email: person.email, tokenHash, attributes, createdAt, expiresAt: createdAt + DAY };
  await putInvitation(ports.records, anInvitation(of));
  return { ...person, invitation };
};

/** The unsent messages to a user, the oldest first. */
export const messagesTo = async (
  { ports }: TestService,
  userId: string,
): Promise<Pick<Message, 'kind' | 'to' | 'email'>[]> =>
  (await messagesOf(ports.records, userId))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ kind, to, email }) => ({ kind, to, email }));

/** The events of a user, the latest first. */
export const eventsOf = ({ ports }: TestService, userId: string): Promise<AccountEvent[]> =>
  storedEvents(ports.records, { userId, before: null, limit: 100 });

/** The valid links of a user, each as its purpose and its address. */
export const linksOf = async ({ ports }: TestService, userId: string): Promise<string[]> =>
  (await storedLinks(ports.records, userId, ports.clock.now()))
    .map(({ purpose, email }) => `${purpose} ${email}`)
    .toSorted();

/** Links a provider's identity to a user, as a sign-in does. */
export const linkIdentity = async ({ ports }: TestService, { id: userId }: { readonly id: string }, given = {}) => {
  const identity = anIdentity({ userId, ...given });
  await ports.records.insert('identities', identity);
  return identity;
};
