import type { Authenticated } from '../../domain/assurance.ts';
import type { Attributes } from '../../domain/attributes.ts';
import type { AccountEvent, Device } from '../../domain/event.ts';
import type { Session } from '../../domain/session.ts';
import type { User } from '../../domain/user.ts';
import type { Webhook, WebhookMessage } from '../../domain/webhook.ts';

/** A registration that would be accepted otherwise. Nothing of it is stored yet, and it has no password. */
export type RegistrationRequest = Device & {
  /** `null` if the user has not chosen one: it is derived from the email after the hook. */
  readonly username: string | null;
  /** In canonical form. Whether it has an account is not known here. */
  readonly email: string;
  /** The language of the user's mails; `null` for the default. */
  readonly locale: string | null;
  /** Whether an operator has invited this address, and the user has the link of the mail. */
  readonly invited: boolean;
  /** What the client has sent for the hook, such as the answer of a CAPTCHA. */
  readonly extra: Readonly<Record<string, string>>;
};

export type RegistrationAnswer =
  /**
   * The attributes are in the user's access tokens, with those of an invitation, which take the place of others of the same names. Together their
   * limits are those of `npx tandem users`.
   */
  | { readonly decision: 'allow'; readonly attributes?: Attributes | undefined }
  /** The message is shown to the user: one line of up to 200 characters. */
  | { readonly decision: 'refuse'; readonly message?: string | undefined };

/**
 * @param ofInvitation the attributes that an invitation states. Those of the answer are added to them.
 * @throws AppError SYS_HOOK_UNAVAILABLE when there is no valid answer.
 */
export type BeforeRegister = (
  registration: RegistrationRequest,
  ofInvitation?: Attributes,
) => Promise<RegistrationAnswer>;

/** For whom an access token is issued. */
export type ClaimsUser = Pick<User, 'id' | 'username' | 'email' | 'locale' | 'attributes'> & {
  readonly emailVerified: boolean;
};
/** The session of the token, with what its user has presented (`amr`: RFC 8176), and when, in epoch milliseconds. */
export type ClaimsSession = Pick<Session, 'id' | keyof Authenticated>;

/**
 * What an access token states about its user, with the attributes of the user. Asked outside of transactions: they would wait for it.
 * @throws AppError SYS_HOOK_UNAVAILABLE when there is no valid answer.
 */
export type AskClaims = (user: User, session: ClaimsSession) => Promise<Attributes>;

/**
 * Functions of the program that runs the service. None gets a password, a token or a hash.
 *
 * @example
 * await serve(config, { hooks: { afterCommit: (event) => crm.note(event.userId, event.kind) } });
 */
export type Hooks = {
  /**
   * Decides about a registration, outside of any transaction. No answer within two seconds, an invalid one, or more than fifty calls at once
   * refuse the registration with SYS_HOOK_UNAVAILABLE.
   */
  readonly beforeRegister?: (registration: RegistrationRequest) => RegistrationAnswer | Promise<RegistrationAnswer>;
  /**
   * Adds to the claim `attributes` of each access token, in place of the user's attributes of the same names: together at most 2,048 bytes of
   * JSON. No answer within half a second, an invalid one, or more than fifty calls at once end the request with SYS_HOOK_UNAVAILABLE, before
   * anything was changed.
   */
  readonly claims?: (user: ClaimsUser, session: ClaimsSession) => Attributes | Promise<Attributes>;
  /**
   * Called once for each event of an account, after its transaction was committed, in the order of the events of this instance. One call
   * ends before the next begins, ten seconds later at the latest. No response waits for it. Up to 1,000 events wait; further ones are lost, as
   * are those that wait when the process dies.
   */
  readonly afterCommit?: (event: AccountEvent) => unknown;
};

/**
 * Whether a user has this password in the former system. Asked outside of transactions.
 * @throws AppError SYS_HOOK_UNAVAILABLE when there is no valid answer.
 */
export type VerifyElsewhere = (user: Pick<User, 'id' | 'username' | 'email'>, password: string) => Promise<boolean>;

/**
 * Sends a webhook a signed request, within 20 seconds.
 * @returns the status, and after how many milliseconds the receiver wants the next attempt, if it says so; else 0.
 * @throws Error without an answer, or when the address may not be asked
 */
export type SendWebhook = (
  message: WebhookMessage,
) => Promise<{ readonly status: number; readonly retryAfter: number }>;

/** What sends to a webhook; `null` if this instance cannot sign for it, since its key is another one. */
export type SenderFor = (webhook: Webhook) => Promise<SendWebhook | null>;

/** Names of hooks, and outcomes of their calls, for the metrics. */
export const HOOKS = ['before-register', 'claims', 'after-commit', 'verify-password', 'leaked-passwords'] as const;
/** `dropped`: not called, since too many calls were running or waiting. */
export const HOOK_OUTCOMES = ['done', 'refused', 'failed', 'dropped'] as const;

export type ObserveHook = (hook: (typeof HOOKS)[number], outcome: (typeof HOOK_OUTCOMES)[number]) => void;
