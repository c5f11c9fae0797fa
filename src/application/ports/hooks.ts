import type { Authenticated } from '../../domain/assurance.ts';
import type { Attributes } from '../../domain/attributes.ts';
import type { Device } from '../../domain/device.ts';
import type { AccountEvent } from '../../domain/event.ts';
import type { Session } from '../../domain/session.ts';
import type { User } from '../../domain/user.ts';
import type { Webhook, WebhookMessage } from '../../domain/webhook.ts';

/** A registration whose fields, password and invitation were checked, without the password. It is not stored yet: username and email may be taken. */
export type RegistrationRequest = Device & {
  /** `null` if the user has chosen no username. Then the service derives one from the email, after the hook. */
  readonly username: string | null;
  /** In canonical form. */
  readonly email: string;
  /** The language of the user's mails; `null` for the default. */
  readonly locale: string | null;
  /** Whether the user presents an invitation to this address. */
  readonly invited: boolean;
  /** Fields that the client has sent for the hook, such as the answer of a CAPTCHA. */
  readonly extra: Readonly<Record<string, string>>;
};

export type RegistrationAnswer =
  /** Attributes of the user, for access tokens. Those of an invitation take precedence. Together they have at most 1,024 bytes of JSON. */
  | { readonly decision: 'allow'; readonly attributes?: Attributes | undefined }
  /** The message is shown to the user: one line of up to 200 characters. */
  | { readonly decision: 'refuse'; readonly message?: string | undefined };

/** @param invitationAttributes the attributes of the invitation, to which those of the answer are added. @throws AppError SYS_HOOK_UNAVAILABLE */
export type BeforeRegister = (
  registration: RegistrationRequest,
  invitationAttributes?: Attributes,
) => Promise<RegistrationAnswer>;

export type ClaimsUser = Pick<User, 'id' | 'username' | 'email' | 'locale' | 'attributes'> & {
  readonly emailVerified: boolean;
};
/** The session of an access token, with how (`amr`: RFC 8176) and when the user has authenticated, in epoch milliseconds. */
export type ClaimsSession = Pick<Session, 'id' | keyof Authenticated>;

/** Makes the claim `attributes` of an access token. Called outside of transactions, so that none waits for the hook. @throws AppError SYS_HOOK_UNAVAILABLE */
export type AskClaims = (user: User, session: ClaimsSession) => Promise<Attributes>;

/**
 * Functions of the program that runs the service. They get no passwords, tokens or hashes of users. Limits of calls are for each process.
 *
 * @example
 * await serve(config, { hooks: { afterCommit: (event) => crm.note(event.userId, event.kind) } });
 */
export type Hooks = {
  /**
   * Decides about a registration, outside of any transaction. The registration is refused with SYS_HOOK_UNAVAILABLE if there is no valid answer
   * within two seconds, or if fifty calls are running.
   */
  readonly beforeRegister?: (registration: RegistrationRequest) => RegistrationAnswer | Promise<RegistrationAnswer>;
  /**
   * Adds to the claim `attributes` of each access token that a client gets, in place of the user's attributes of the same names: together at most 2,048
   * bytes of JSON. The request ends with SYS_HOOK_UNAVAILABLE, and issues no token, if there is no valid answer within half a second, or if fifty calls
   * are running.
   */
  readonly claims?: (user: ClaimsUser, session: ClaimsSession) => Attributes | Promise<Attributes>;
  /**
   * Called once for each event, after its transaction was committed. A process calls it in the order of its events: the next call begins when the call
   * before has ended, or after ten seconds. No response waits for the hook. Up to 1,000 events wait; further ones are lost, as are those that still
   * wait when the process ends.
   */
  readonly afterCommit?: (event: AccountEvent) => unknown;
};

/** Whether the former system says that a user has this password; `false` once it may no longer be asked. @throws AppError SYS_HOOK_UNAVAILABLE */
export type VerifyFormerPassword = (
  user: Pick<User, 'id' | 'username' | 'email'>,
  password: string,
) => Promise<boolean>;

/**
 * Sends a signed request to a webhook, within 20 seconds. @throws Error without an answer, or for an address that is not allowed
 * @returns the status, and the milliseconds of `Retry-After`, or 0 if there is none, or the status is neither 429 nor 503
 */
export type SendWebhook = (
  message: WebhookMessage,
) => Promise<{ readonly status: number; readonly retryAfter: number }>;

/** Finds the function that sends to a webhook; `null` if this instance cannot sign with the key of the webhook. */
export type SenderFor = (webhook: Webhook) => Promise<SendWebhook | null>;

/** The names of hooks in the metrics. `leaked-passwords` is a look-up that is limited and counted as hooks are. */
export const HOOK_NAMES = ['before-register', 'claims', 'after-commit', 'verify-password', 'leaked-passwords'] as const;
/** `dropped`: the hook was not called, since too many calls were running or waiting. */
export const HOOK_OUTCOMES = ['done', 'refused', 'failed', 'dropped'] as const;

export type ObserveHook = (hook: (typeof HOOK_NAMES)[number], outcome: (typeof HOOK_OUTCOMES)[number]) => void;
