import {
  NO_KEYS,
  NO_PROOF_REQUIRED,
  newRememberedDevice,
  type RememberedDevice,
  UNKNOWN_DEVICE,
} from '../../src/domain/device.ts';
import type { EndedTokens } from '../../src/domain/event.ts';
import { type AccountEvent, NO_ORIGIN } from '../../src/domain/event.ts';
import type { Identity } from '../../src/domain/identity.ts';
import type { Link } from '../../src/domain/link.ts';
import type { Message } from '../../src/domain/message.ts';
import type { Passkey } from '../../src/domain/passkey.ts';
import type { Invitation } from '../../src/domain/registration.ts';
import type { Factor } from '../../src/domain/second-factor.ts';
import type { Rotation, Session } from '../../src/domain/session.ts';
import type { User } from '../../src/domain/user.ts';
import type { Delivery, Webhook } from '../../src/domain/webhook.ts';
import { sequentialIds } from './sequential-ids.ts';

const DAY = 86_400_000;

/** The time of all built values, far in the future, so that they do not expire by the clock of a store. */
export const NOW = Date.UTC(2040, 0, 1);

/** These ids differ from those of `application`. */
const ids = sequentialIds('01J10000000000000000000000');
let people = 0;

/** An id that is unique within a test file. */
export const anId = (): string => ids.next();

/** A user with a unique username and email address. */
export const aUser = (given: Partial<User> = {}): User => {
  people += 1;
  return {
    id: anId(),
    username: `Person.${people}`,
    email: `person.${people}@example.org`,
    passwordHash: `$2b$10$hash.of.person.${people}`,
    createdAt: NOW,
    updatedAt: NOW + 1,
    passwordChangedAt: 0,
    emailVerifiedAt: null,
    disabledAt: null,
    secondFactorAt: null,
    attributes: {},
    locale: null,
    importedFactors: null,
    removedIdentities: null,
    ...given,
  };
};

/** A session of an unknown user, opened at `NOW` and never rotated. */
export const aSession = (given: Partial<Session> = {}): Session => ({
  id: anId(),
  userId: anId(),
  currentTokenId: anId(),
  previousTokenId: null,
  rotatedAt: NOW,
  rotation: 0,
  burstStartedAt: NOW,
  burstFirst: 0,
  createdAt: NOW,
  expiresAt: NOW + 7 * DAY,
  userAgent: null,
  address: null,
  ...NO_KEYS,
  authenticatedAt: NOW,
  amr: ['pwd'],
  knownAt: NOW,
  heldAt: null,
  ...given,
});

/** An event of an unknown user, of a kind that is never counted together with others. */
export const anEvent = (given: Partial<AccountEvent> = {}): AccountEvent => ({
  id: anId(),
  userId: anId(),
  kind: 'disabled',
  at: NOW,
  sessionId: null,
  reason: null,
  method: null,
  note: null,
  count: 1,
  requestId: null,
  userAgent: null,
  address: null,
  actor: null,
  ...given,
});

/** A link of an unknown user to reset the password. */
export const aLink = (given: Partial<Link> = {}): Link => ({
  userId: anId(),
  purpose: 'password-reset',
  tokenHash: `hash of ${anId()}`,
  email: 'a.person@example.org',
  since: 0,
  keeps: null,
  createdAt: NOW,
  expiresAt: NOW + DAY,
  ...given,
});

/** The end of a session, as it is listed. */
export const anEnded = (given: Partial<EndedTokens> = {}): EndedTokens => ({
  id: anId(),
  at: NOW,
  userId: null,
  sessionId: anId(),
  reason: 'logout',
  ...given,
});

/** An invitation to a unique address. */
export const anInvitation = (given: Partial<Invitation> = {}): Invitation => {
  const id = anId();
  return {
    id,
    email: `${id.toLowerCase()}@example.org`,
    tokenHash: `hash of ${anId()}`,
    attributes: {},
    createdAt: NOW,
    expiresAt: NOW + 7 * DAY,
    ...given,
  };
};

export const aWebhook = (given: Partial<Webhook> = {}): Webhook => ({
  id: anId(),
  url: 'https://receiver.example/hooks',
  types: null,
  keyNumber: 1,
  publicKey: 'whpk_of-the-webhook',
  hasSecret: false,
  createdAt: NOW,
  rotatedAt: null,
  disabledAt: null,
  ...given,
});

/** The delivery of the event that an unknown user was disabled. */
export const aDelivery = (given: Partial<Delivery> = {}): Delivery => ({
  webhookId: anId(),
  userId: anId(),
  sequence: 1,
  event: { id: anId(), type: 'user.disabled', at: NOW, sessionId: null, reason: null },
  attempts: 0,
  createdAt: NOW,
  ...given,
});

/** A notice of a changed password for an unknown user. */
export const aMessage = (given: Partial<Message> = {}): Message => ({
  id: anId(),
  kind: 'password-changed',
  userId: anId(),
  to: 'a.person@example.org',
  email: null,
  locale: null,
  wasVerified: false,
  origin: NO_ORIGIN,
  createdAt: NOW,
  attempts: 0,
  ...given,
});

/** A passkey of an unknown user, on a security key that counts its uses. */
export const aPasskey = (given: Partial<Passkey> = {}): Passkey => ({
  id: anId(),
  userId: anId(),
  credentialId: `credential-of_${anId()}`,
  publicKey: `key-of_${anId()}`,
  userHandle: 'h'.repeat(43),
  counter: 1,
  transports: ['internal', 'usb'],
  aaguid: '00000000-0000-0000-0000-000000000000',
  isSynced: false,
  isBackedUp: false,
  name: 'Passkey',
  createdAt: NOW,
  lastUsedAt: null,
  ...given,
});

/** An identity of an unknown user. */
export const anIdentity = (given: Partial<Identity> = {}): Identity => ({
  issuer: 'https://accounts.example',
  subject: `subject ${anId()}`,
  id: anId(),
  userId: anId(),
  provider: 'acme',
  email: 'ada@example.org',
  createdAt: NOW,
  lastUsedAt: null,
  ...given,
});

/** An authenticator app of an unknown user, which has shown no code yet. */
export const aFactor = (given: Partial<Factor> = {}): Factor => ({
  id: anId(),
  userId: anId(),
  secret: 'encrypted',
  lastStep: -1,
  createdAt: NOW,
  confirmedAt: null,
  ...given,
});

/** A device of an unknown user, remembered since `NOW`. */
export const aRememberedDevice = (given: Partial<RememberedDevice> = {}): RememberedDevice => ({
  ...newRememberedDevice({ id: anId(), userId: anId() }, UNKNOWN_DEVICE, NOW),
  ...given,
});

/** The next rotation of a session, a minute after the last one, so that it begins a new burst. */
export const aRotation = (session: Session, given: Partial<Rotation> = {}): Rotation => ({
  sessionId: session.id,
  userId: session.userId,
  from: given.from ?? session.currentTokenId,
  expected: given.from ?? session.currentTokenId,
  number: session.rotation,
  expectedNumber: given.number ?? session.rotation,
  to: anId(),
  at: session.rotatedAt + 60_000,
  device: UNKNOWN_DEVICE,
  evidence: NO_PROOF_REQUIRED,
  expiresAt: session.expiresAt + 60_000,
  maxAge: null,
  continuesBurst: false,
  ...given,
});
