import type { SecondFactorPolicy } from '../domain/assurance.ts';
import type { DeviceBinding } from '../domain/device.ts';
import { type EventDraft, newEvent, type Origin } from '../domain/event.ts';
import type { NoticeGroup } from '../domain/event-table.ts';
import { type MessageDraft, newMessage } from '../domain/message.ts';
import type { PasswordLimits, PasswordRules } from '../domain/password.ts';
import type { RegistrationPolicy } from '../domain/registration.ts';
import type { ReplayPolicy } from '../domain/tokens.ts';
import { accountKind, type User } from '../domain/user.ts';
import type { Clock, IdGenerator } from './ports/clock-and-ids.ts';
import type { AskClaims, BeforeRegister, VerifyFormerPassword } from './ports/hooks.ts';
import type { IdentityProvider } from './ports/identity-providers.ts';
import type { LoginAttempts } from './ports/login-attempts.ts';
import type { Mailer } from './ports/mailer.ts';
import type { PasswordHasher } from './ports/password-hasher.ts';
import type { Proofs } from './ports/proofs.ts';
import type { RandomSecrets, Secrets } from './ports/secrets.ts';
import type { TokenSigner } from './ports/token-signer.ts';
import type { UserRepository } from './ports/user-repository.ts';
import type { WebAuthn } from './ports/webauthn.ts';
import type { Report } from './report.ts';
import { addEvents } from './storage/events.ts';
import { addMessages } from './storage/outbox.ts';
import type { Storage, Stores } from './storage/records.ts';

/** Resolves after `time` milliseconds. */
export type Pause = (time: number) => Promise<unknown>;

/** Where times, ids and random secrets come from. */
export type Sources = { readonly clock: Clock; readonly ids: IdGenerator; readonly secrets: RandomSecrets };

/** What use cases that change accounts get, in the service and in commands of operators. */
export type Core = Storage &
  Sources & {
    readonly registration?: RegistrationPolicy | undefined;
    readonly mailNotices?: ReadonlySet<NoticeGroup> | undefined;
    readonly mailLocales?: readonly string[] | undefined;
  };

export type Ports = Storage &
  Omit<PasswordRules, 'productWords'> & {
    /** `null`: no mail is sent, and users have no routes that need it. */
    readonly mailer: Mailer | null;
    readonly tokens: TokenSigner;
    readonly proofs: Proofs;
    readonly secrets: Secrets;
    readonly webauthn: WebAuthn;
    readonly hasher: PasswordHasher;
    readonly attempts: LoginAttempts;
    readonly clock: Clock;
    readonly ids: IdGenerator;
  };

/** Decisions of the operator. Durations are in milliseconds. */
type Policies = SecondFactorPolicy &
  ReplayPolicy & {
    readonly passwordLimits: PasswordLimits;
    /** Names of the product and its host, for `assertPasswordAllowed`. */
    readonly productWords?: readonly string[];
    readonly jwtAccessExpiresIn: number;
    readonly jwtRefreshExpiresIn: number;
    /** The greatest age of a session, since its user has authenticated; `null`: it is not limited. */
    readonly sessionMaxLifetime: number | null;
    readonly deviceBinding: DeviceBinding;
    /** Whether access tokens say how and when the user has authenticated. */
    readonly jwtAuthenticationClaims: boolean;
    /** Whether access tokens name their session in a claim, too. Default: they do not. */
    readonly jwtSessionClaim?: boolean;
    /** Whether `issueAccess` binds access tokens to the device key of their session, if it has one. Default: it does not. */
    readonly jwtBinding?: boolean;
    /** Set if browsers also get the access token in a cookie. Default: they do not. */
    readonly accessCookie?: object | null;
    /** `optional`: users may register without a password. Default: required. */
    readonly passwords?: 'required' | 'optional' | undefined;
    /** Whether users verify their email addresses; `required`: before they log in. Default: off. */
    readonly emailVerification?: 'off' | 'optional' | 'required' | undefined;
    readonly loginByCode?: boolean | undefined;
    /** Whether a password on a new device may need a code by mail, too. `while-mail-works`: not while the user's mail is late. Default: off. */
    readonly newDeviceCode?: 'on' | 'off' | 'while-mail-works' | undefined;
  };

/** What use cases work with: ports, policies, and hooks of the operator. */
export type Service = Core &
  Ports &
  Policies & {
    readonly report?: Report;
    readonly pause: Pause;
    readonly providers: ReadonlyMap<string, IdentityProvider>;
    readonly beforeRegister?: BeforeRegister | undefined;
    /** Makes the claim `attributes` of access tokens. Default: the attributes of the user. */
    readonly claims?: AskClaims | undefined;
    /** Asks the former system whether a password is right. Default: users who were imported without a hash have no password. */
    readonly verifyFormerPassword?: VerifyFormerPassword | undefined;
  };

/** `throwIfAborted` throws when the work need not go on, for instance since the request has timed out. An `AbortSignal` has this method. */
export type Cancellation = { throwIfAborted(): void };

export const NEVER_CANCELLED: Cancellation = { throwIfAborted: () => undefined };

/** Decrypts the texts of one kind that a browser presents, and leaves out those that are invalid, have expired, or are of another kind. */
export const unsealTexts = <Content extends readonly unknown[]>(
  { secrets, clock }: Pick<Service, 'secrets' | 'clock'>,
  texts: readonly string[],
  kind: string,
): Content[] =>
  texts.flatMap((text) => {
    const content: unknown = JSON.parse(secrets.decrypt(text, clock.now()) ?? 'null');
    return Array.isArray(content) && content[0] === kind ? [content.slice(1) as readonly unknown[] as Content] : [];
  });

export const findByAccount = ({ users }: { readonly users: UserRepository }, account: string): Promise<User | null> =>
  accountKind(account) === 'email' ? users.findByEmail(account) : users.findByUsername(account);

/** Copies only the named fields, so that new fields are private by default. */
export const pick = <Row, Name extends keyof Row>(row: Row, ...names: readonly Name[]): Pick<Row, Name> =>
  Object.fromEntries(names.map((name) => [name, row[name]])) as Pick<Row, Name>;

/** Stores events, in the transaction of the change that they report. @param isListed whether the list of ended sessions gets an entry. Default: it does. */
export const record = (
  deps: Sources,
  stores: Stores,
  origin: Origin,
  drafts: readonly EventDraft[],
  isListed?: boolean,
): Promise<void> => {
  const at = deps.clock.now();
  const events = drafts.map((draft) => newEvent(draft, { id: deps.ids.next(), at, origin }));
  return addEvents(deps, stores, events, isListed);
};

/** Puts messages into the outbox. If they report a change, this happens in its transaction. */
export const enqueue = async (deps: Sources, stores: Stores, origin: Origin, drafts: readonly MessageDraft[]) => {
  const at = deps.clock.now();
  const messages = drafts.map((draft) => newMessage(draft, { id: deps.ids.next(), at, origin }));
  await addMessages(stores, messages);
};
