/** What the service sends and accepts, which `test/client/types.test.ts` compares with the declarations of the routes, and the members of the client. */

export type User = {
  readonly id: string;
  readonly username: string;
  readonly email: string;
  /** In ISO 8601, as all times in responses of the service. */
  readonly createdAt: string;
  readonly updatedAt: string;
};

/** What operators have stated about a user, such as roles. Access tokens have it as a claim, unless it is empty, or a hook makes the claim. */
export type Attributes = Readonly<Record<string, unknown>>;

/** The response of GET /users/me. */
export type CurrentUser = User & {
  readonly emailVerified: boolean;
  readonly attributes: Attributes;
  /** The language of the user's mails; `null`: the default language of the service. */
  readonly locale: string | null;
  /** Whether the user has an authenticator app, so that log-ins need a second factor. */
  readonly secondFactor: boolean;
  readonly passkeys: number;
};

export type Registration = {
  /** Required, except with `PASSWORDS=optional`: then the service derives one from the email. */
  readonly username?: string | undefined;
  readonly email: string;
  /** Required, except with `PASSWORDS=optional`. */
  readonly password?: string | undefined;
  /** The language of the user's mails, such as `de-AT`. Default: the language of the browser. */
  readonly locale?: string | undefined;
  /** The token of an invitation: `token` in the fragment of its link. */
  readonly invitation?: string | undefined;
  /** Data for a hook of the service, such as the answer to a CAPTCHA. */
  readonly extra?: Readonly<Record<string, string>> | undefined;
};

export type Credentials = {
  /** A username or an email. */
  readonly account: string;
  readonly password: string;
};

export type PasswordChange = { readonly currentPassword: string; readonly newPassword: string };

export type SessionInfo = {
  readonly id: string;
  readonly createdAt: string;
  readonly lastUsedAt: string;
  /** A name for the device, such as "Firefox on Windows". */
  readonly name: string | null;
  readonly userAgent: string | null;
  /** The network from which the session was used last. */
  readonly address: string | null;
  readonly binding: Binding;
  /** Whether this is the session of this client. */
  readonly current: boolean;
  /** Whether this is a remembered device, on which the password is enough for a month, instead of a session. */
  readonly remembered: boolean;
};

/** How a user has authenticated (RFC 8176): password, code by mail, provider, former system, one-time password, key, presence of a user, several factors. */
export type Amr = 'pwd' | 'mca' | 'fed' | 'adopted' | 'otp' | 'pop' | 'user' | 'mfa';

/** Who holds the key to which a session is bound: `device`, a page or an app; `browser`, the browser itself. */
export type Binding = 'none' | 'device' | 'browser';

export type LoginResult = { readonly accessToken: string; readonly user: User };
export type RefreshResult = { readonly accessToken: string };

/** A field of a request that is not valid, with the number for a translation of the message, which is in English. */
export type FieldProblem = { readonly field: string; readonly message: string } & (
  | {
      readonly code: 'too_short' | 'too_small';
      /** The least length, or the least number. */
      readonly min: number;
    }
  | {
      readonly code: 'too_long' | 'too_large';
      /** The greatest length, or the greatest number. A password is measured in bytes of UTF-8. */
      readonly max: number;
    }
  | {
      readonly code:
        | 'required'
        | 'invalid_type'
        | 'invalid_value'
        | 'invalid_format'
        | 'invalid_characters'
        | 'too_common'
        | 'leaked'
        | 'unknown'
        | 'malformed';
    }
  | {
      /** With AUTH_USER_DUPLICATE: the username or the email belongs to another account. */
      readonly code: 'taken';
    }
);

export type FieldCode = FieldProblem['code'];

export type EventKind =
  | 'registered'
  | 'registration-refused'
  | 'logged-in'
  | 'login-refused'
  | 'login-code-requested'
  | 'session-opened'
  | 'session-ended'
  | 'session-recovered'
  | 'device-unproven'
  | 'device-bound'
  | 'stepped-up'
  | 'passkey-added'
  | 'passkey-removed'
  | 'passkey-copy-suspected'
  | 'identity-linked'
  | 'identity-unlinked'
  | 'second-factor-added'
  | 'second-factor-removed'
  | 'recovery-code-used'
  | 'recovery-codes-made'
  | 'device-remembered'
  | 'device-forgotten'
  | 'password-changed'
  | 'password-reset-requested'
  | 'password-link-handed-over'
  | 'password-reset'
  | 'email-verification-requested'
  | 'email-verified'
  | 'email-change-requested'
  | 'email-changed'
  | 'email-change-undone'
  | 'factors-undone'
  | 'username-changed'
  | 'exported'
  | 'locale-changed'
  | 'attributes-changed'
  | 'disabled'
  | 'enabled'
  | 'unlocked'
  | 'invited'
  | 'invitation-revoked'
  | 'deleted';

export type LoginMethod = 'password' | 'provider' | 'mail-code' | 'adopted' | 'passkey';

export type SessionEnding =
  | 'logout'
  | 'replaced'
  | 'ended-by-user'
  | 'all-ended'
  | 'password-changed'
  | 'password-reset'
  | 'email-change-undone'
  | 'factors-undone'
  | 'address-proven'
  | 'token-replayed'
  | 'evicted'
  | 'expired'
  | 'operator'
  | 'account-deleted';

export type AccountEvent = {
  readonly id: string;
  readonly kind: EventKind;
  readonly at: string;
  readonly sessionId: string | null;
  /** Why the session ended, for the kind `session-ended`. */
  readonly reason: SessionEnding | null;
  /** How the user has logged in, for the kind `logged-in`. */
  readonly method: LoginMethod | null;
  /** How often it happened within the hour, for log-ins on the same device, and for refused log-ins. All other events have 1. */
  readonly count: number;
  readonly requestId: string | null;
  readonly userAgent: string | null;
  readonly address: string | null;
  /** A message from the operator to the user. */
  readonly note: string | null;
  /** `operator` if an operator of the service has caused the event. */
  readonly actor: 'operator' | null;
  /** A name for the device, such as "Firefox on Windows". */
  readonly deviceName: string | null;
};

export type AccountEvents = {
  readonly events: readonly AccountEvent[];
  /** `before` for the next page; `null` if there is no further page. */
  readonly next: string | null;
};

export type AccountExport = {
  readonly exportedAt: string;
  readonly user: User & {
    readonly passwordChangedAt: string | null;
    readonly emailVerifiedAt: string | null;
    readonly disabledAt: string | null;
    readonly secondFactorAt: string | null;
    readonly attributes: Attributes;
    readonly locale: string | null;
  };
  readonly sessions: readonly (Omit<SessionInfo, 'name' | 'current' | 'remembered'> & {
    readonly expiresAt: string;
    readonly authenticatedAt: string;
    readonly amr: readonly Amr[];
    readonly knownAt: string | null;
    readonly heldAt: string | null;
  })[];
  readonly rememberedDevices: readonly (Pick<SessionInfo, 'id' | 'createdAt' | 'userAgent' | 'address'> & {
    readonly expiresAt: string;
  })[];
  readonly events: readonly Omit<AccountEvent, 'deviceName'>[];
  /** Links and codes that still work. */
  readonly links: readonly {
    readonly purpose: LinkPurpose;
    readonly email: string;
    readonly createdAt: string;
    readonly expiresAt: string;
  }[];
  readonly passkeys: readonly (Omit<Passkey, 'synced' | 'backedUp'> & {
    readonly transports: readonly string[];
    readonly isSynced: boolean;
    readonly isBackedUp: boolean;
  })[];
  readonly identities: readonly (LinkedIdentity & { readonly issuer: string; readonly subject: string })[];
  /** Authenticator apps. */
  readonly factors: readonly { readonly id: string; readonly createdAt: string; readonly confirmedAt: string | null }[];
  readonly recoveryCodes: { readonly left: number };
  /** Mail that waits to be sent. */
  readonly messages: readonly {
    readonly id: string;
    readonly kind: MessageKind;
    readonly to: string;
    readonly email: string | null;
    readonly origin: Pick<AccountEvent, 'userAgent' | 'address' | 'requestId'>;
    readonly createdAt: string;
  }[];
};

export type LinkPurpose =
  | 'password-reset'
  | 'handed-over'
  | 'confirmation-code'
  | 'email-verification'
  | 'not-me'
  | 'email-change'
  | 'email-change-undo'
  | 'factors-undo';

export type MessageKind =
  | 'password-reset-request'
  | 'email-verification-request'
  | 'login-code-request'
  | 'new-device-code-request'
  | 'password-reset'
  | 'email-verification'
  | 'login-code'
  | 'new-device-code'
  | 'address-taken'
  | 'invitation'
  | 'confirmation-code'
  | 'email-change'
  | 'email-changed'
  | 'email-change-final'
  | 'email-change-undone'
  | 'factors-undone'
  | 'password-changed'
  | 'locale-changed'
  | 'username-changed'
  | 'exported'
  | 'password-was-reset'
  | 'password-removed'
  | 'password-too-long'
  | 'password-leaked'
  | 'new-device'
  | 'second-factor-missing'
  | 'login-after-failures'
  | 'token-replayed'
  | 'device-unproven'
  | 'passkey-added'
  | 'passkey-removed'
  | 'passkey-copy-suspected'
  | 'identity-linked'
  | 'identity-unlinked'
  | 'second-factor-added'
  | 'second-factor-removed'
  | 'recovery-code-used'
  | 'recovery-codes-made';

export type ServiceCode =
  | 'CLIENT_PARAMS_VALIDATION_FAILED'
  | 'AUTH_CREDENTIALS_INVALID'
  | 'AUTH_CODE_INVALID'
  | 'AUTH_ACCOUNT_DISABLED'
  | 'AUTH_DEVICE_UNPROVEN'
  | 'AUTH_PROOF_EXPIRED'
  | 'AUTH_PAGE_SERVER_UNKNOWN'
  | 'AUTH_PASSKEY_INVALID'
  | 'AUTH_SECOND_FACTOR_REQUIRED'
  | 'AUTH_SECOND_FACTOR_INVALID'
  | 'AUTH_STEP_UP_REQUIRED'
  | 'AUTH_EMAIL_UNVERIFIED'
  | 'AUTH_ASSERTION_INVALID'
  | 'AUTH_IDENTITY_CONFLICT'
  | 'AUTH_IDENTITY_UNPROVEN'
  | 'AUTH_REGISTRATION_CLOSED'
  | 'AUTH_REGISTRATION_REFUSED'
  | 'AUTH_LINK_INVALID'
  | 'AUTH_TOKEN_INVALID'
  | 'AUTH_TOKEN_MISSING'
  | 'AUTH_FAILED'
  | 'DB_RECORD_NOT_FOUND'
  | 'EXCEPTION_CATALOG_CODE_NOT_FOUND'
  | 'AUTH_USER_DUPLICATE'
  | 'DB_UNIQUE_VIOLATION'
  | 'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED'
  | 'DB_QUERY_FAILED'
  | 'SYS_HTTP_UNEXPECTED_ERROR'
  | 'SYS_HOOK_UNAVAILABLE'
  | 'SYS_PROVIDER_UNAVAILABLE'
  | 'SYS_SERIALIZATION_ERROR'
  | 'SYS_UNEXPECTED_ERROR';

/** Errors that the service does not send. */
export type ClientCode =
  | 'CLIENT_NETWORK_OFFLINE'
  /** There was no response that the client could use, for another reason than those of the other codes. */
  | 'CLIENT_NETWORK_FAILED'
  | 'CLIENT_NETWORK_TIMEOUT'
  /** The service, or another target of `fetch`, can be reached, but the browser does not let this origin read its response. */
  | 'CLIENT_ORIGIN_REFUSED'
  /** The browser does not keep or send the refresh cookie. */
  | 'CLIENT_COOKIE_BLOCKED'
  /** The answer is none of the service: it may come from a proxy. */
  | 'CLIENT_RESPONSE_INVALID'
  /** A request was not sent, since its origin must not get the access token. On a server also: without `origin`, no proof can be checked. */
  | 'CLIENT_TARGET_REFUSED'
  /** The browser has made or shown no passkey, for example because the user did not want to. `cause` is the error of the browser, if there is one. */
  | 'CLIENT_PASSKEY_REFUSED';

export type AuthErrorCode = ServiceCode | ClientCode;

/**
 * Why the user changed. `login`: somebody logged in, here or in another tab. `refresh`: the session was restored, or its token renewed.
 * `logout`: the user logged out, here or in another tab. `ended`: the service has refused the session.
 */
export type Change = 'login' | 'refresh' | 'logout' | 'ended';

export type AccountClientOptions = {
  /** The URL of the service, with its path if it has one. */
  readonly baseUrl: string;
  /** The `fetch` of an AuthClient, for calls that act for its user. Default: the global `fetch`, for calls that need no user. */
  readonly fetch?: ((input: string, init?: RequestInit) => Promise<Response>) | undefined;
};

export type PasswordReset = { readonly token: string; readonly newPassword: string };
export type UsernameChange = { readonly username: string };
/** The password is needed without a session of the account. */
export type EmailChangeConfirmation = { readonly token: string; readonly password?: string | undefined };

/** Whose password a link sets. */
export type PasswordResetPreview = { readonly username: string };

/** The change of an email that a link makes. */
export type EmailChangePreview = {
  readonly username: string;
  readonly createdAt: string;
  /** Until when a former address could take the account back; `null` if there is no such address. */
  readonly undoUntil: string | null;
};

/** Needs the password, or with `PASSWORDS=optional` the code that `requestConfirmationCode` mails to the present address. */
export type EmailChange = {
  readonly email: string;
  readonly password?: string | undefined;
  readonly code?: string | undefined;
};

/** At most `limit` events, from before the event with the id `before`. */
export type EventsPage = { readonly before?: string | undefined; readonly limit?: number | undefined };

export type AuthClientOptions = Pick<AccountClientOptions, 'baseUrl'> & {
  /** Other origins that `fetch` may send the access token to. */
  readonly origins?: readonly string[] | undefined;
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /**
   * Looks for a session at the start even if `localStorage` has no hint that there may be one: when it was cleared, or somebody has logged in at
   * another application of the site. It costs up to three requests if nobody is logged in.
   */
  readonly ignoreHint?: boolean | undefined;
  /**
   * Called when a response says that the user has to authenticate again: `recent`, by the password or a passkey; `second-factor`, by a code or a passkey.
   * When the promise resolves, the request is repeated, so that a filled-in form is not lost. When it rejects, the request rejects. If a request needs both,
   * there are two calls. Concurrent requests share a call. The function must not make a request that needs a step-up itself: both would wait for ever.
   */
  readonly onStepUp?: ((reason: StepUpReason) => Promise<unknown>) | undefined;
};

export type StepUpReason = 'recent' | 'second-factor';

/** What the user presents again: the password, a code of an authenticator app, a recovery code, or a passkey. */
export type Shown =
  | { readonly password: string }
  | { readonly code: string }
  | { readonly recoveryCode: string }
  | { readonly credential: PasskeyCredential };

/** The pages of the service to which an application may link. `log-in` links to `register` and `forgot` itself, if the service has them. */
export type UserPage = 'log-in' | 'register' | 'forgot' | 'account' | 'log-out';

/** The URL to which a page of the service leads back, at an allowed origin. Default: the present page. */
export type Return = { readonly to?: string | URL | undefined };

/** The options of a log-in at a provider. `invitation`, `locale` and `extra` are for a new user, whom the log-in registers. */
export type SignInOptions = Return &
  Pick<Registration, 'invitation' | 'locale' | 'extra'> & {
    /** The URL to which an error leads, with its code as the parameter `error`. Default: the present page. */
    readonly errorTo?: string | undefined;
    /** Links the account at the provider to the user who is logged in, after a recent step-up. */
    readonly link?: true | undefined;
  };

export type AuthClient = {
  /** The user; `null`: nobody is logged in; `undefined`: not known yet. */
  readonly user: User | null | undefined;
  /** Who holds the key to which the session is bound. With `DEVICE_BINDING=enforce`, a copy of the cookie cannot renew the session without the key. */
  readonly binding: Binding;
  /** Settles with the first attempt to restore a session. It rejects if that failed, for example offline. */
  readonly ready: Promise<User | null>;
  /** @returns a function that removes the listener. */
  readonly onChange: (listener: (user: User | null, why: Change) => void) => () => void;
  /**
   * Resolves to `null`, without a log-in, if the user first has to verify the email, or to add a second factor. If the email has to be verified, the
   * answer does not show whether the address has an account.
   */
  readonly register: (registration: Registration) => Promise<User | null>;
  readonly login: (credentials: Credentials) => Promise<User>;
  /** Sends a code to the address of the account. The answer does not show whether the account exists. */
  readonly requestCode: (account: string) => Promise<null>;
  /** Logs in with the code of the mail, in the browser that has asked for it. */
  readonly logInWithCode: (code: string) => Promise<User>;
  readonly logInAt: {
    /** Leads to the log-in page of the service, and back. Then `ready` has the user. */
    (page?: Return): void;
    /** Logs in by a request to `path`: for the clients of passkeys and pending log-ins. `seen` gets the whole answer. */
    (path: string, body: object, seen?: (result: object) => void): Promise<User>;
  };
  /** Leads to a provider, by its name in `OIDC_PROVIDERS`, and back. Then `ready` has the user. Rejects if the provider cannot be reached. */
  readonly logInWith: (provider: string, options?: SignInOptions) => Promise<void>;
  /** The address of a page of the service, for a link. */
  readonly linkTo: (page: UserPage, options?: Return) => string;
  readonly logout: () => Promise<void>;
  /** Authenticates the user again, for requests that the service has refused with AUTH_STEP_UP_REQUIRED. */
  readonly stepUp: (shown: Shown) => Promise<void>;
  /** Renews both tokens now; `null`: there is no session. */
  readonly refresh: () => Promise<User | null>;
  /** Ends all sessions of the user, and opens another one for this client. */
  readonly changePassword: (change: PasswordChange) => Promise<void>;
  readonly sessions: {
    readonly list: () => Promise<readonly SessionInfo[]>;
    /** Ends a session. For that of this client, it is a log-out. APIs that do not follow the ended sessions accept its access tokens until they expire. */
    readonly end: (id: string) => Promise<void>;
    /** Ends all other sessions, and replaces the session of this client, unless it is bound to a key. */
    readonly endOthers: () => Promise<void>;
  };
  /** Like the global `fetch`, with the access token, and with a proof if the token is bound. Redirects are refused, except with `redirect: 'manual'`. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /** A valid access token for other HTTP libraries; `null` if nobody is logged in. With `JWT_BINDING=on`, it is of no use without a proof. */
  readonly accessToken: () => Promise<string | null>;
  /** Removes the timers and listeners, and closes the channel to other tabs. */
  readonly dispose: () => void;
};

/** An account at a provider with which the user logs in. */
export type LinkedIdentity = {
  readonly id: string;
  /** The name of the provider in `OIDC_PROVIDERS`. */
  readonly provider: string;
  /** The address that the provider stated last. */
  readonly email: string | null;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
};

export type Passkey = {
  readonly id: string;
  /** The id by which browsers know the passkey. */
  readonly credentialId: string;
  readonly name: string;
  /** The model of the authenticator that has made the passkey. */
  readonly aaguid: string;
  /** Whether several devices of the user can have the passkey. */
  readonly synced: boolean;
  readonly backedUp: boolean;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
};

export type AddedPasskey = Passkey & {
  /** Set if the user can log in only with passkeys, and had no recovery codes. A recovery code replaces the password of a log-in. */
  readonly recoveryCodes?: readonly string[] | undefined;
};

/** The argument of `PublicKeyCredential.parseCreationOptionsFromJSON`. */
export type PasskeyCreationOptions = {
  readonly rp: { readonly id: string; readonly name: string };
  readonly user: { readonly id: string; readonly name: string; readonly displayName: string };
  readonly challenge: string;
  readonly pubKeyCredParams: readonly { readonly type: 'public-key'; readonly alg: number }[];
  readonly timeout: number;
  readonly excludeCredentials: readonly {
    readonly type: 'public-key';
    readonly id: string;
    readonly transports?: readonly string[] | undefined;
  }[];
  readonly authenticatorSelection: {
    readonly residentKey: 'required';
    readonly requireResidentKey: true;
    readonly userVerification: 'preferred';
  };
  readonly hints: readonly string[];
  readonly attestation: 'none';
};

/** The argument of `PublicKeyCredential.parseRequestOptionsFromJSON`. */
export type PasskeyRequestOptions = {
  readonly rpId: string;
  readonly challenge: string;
  /** Milliseconds. */
  readonly timeout: number;
  readonly userVerification: 'preferred';
  readonly hints: readonly string[];
  /** When the challenge expires, by the clock of the service. */
  readonly expiresAt: string;
};

/** The argument of `PublicKeyCredential.signalAllAcceptedCredentials`. */
export type AcceptedPasskeys = {
  readonly rpId: string;
  readonly userId: string;
  readonly allAcceptedCredentialIds: readonly string[];
};

/** The members of a new passkey's `toJSON()` that the service reads. */
export type NewPasskeyCredential = {
  readonly id: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly attestationObject: string;
    readonly transports?: readonly string[] | undefined;
  };
};

/** The members of a used passkey's `toJSON()` that the service reads. */
export type PasskeyCredential = {
  readonly id: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    readonly userHandle?: string | null | undefined;
  };
};

export type PasskeyClientOptions = {
  /** The `baseUrl` of the AuthClient. */
  readonly baseUrl: string;
  readonly auth: Pick<AuthClient, 'fetch' | 'logInAt' | 'onChange'>;
};

/** The passkeys, authenticator apps and recovery codes of a user. */
export type Factors = {
  readonly passkeys: readonly Passkey[];
  readonly totp: readonly { readonly id: string; readonly createdAt: string }[];
  /** How many recovery codes are left. */
  readonly recoveryCodes: number;
};

/** An authenticator app that waits for its first code. */
export type StartedApp = {
  readonly id: string;
  /** In Base32. */
  readonly secret: string;
  /** The secret in a URI, `otpauth://…`. */
  readonly uri: string;
  /** The URI as a QR code, in SVG. */
  readonly qr: string;
};

/** The first code of an authenticator app. */
export type AppConfirmation = { readonly id: string; readonly code: string };
export type RecoveryCodes = { readonly recoveryCodes: readonly string[] };

/** A log-in that lacks its second factor, or a code by mail. */
export type PendingLogin = {
  /** `mail-code`: a code was sent by mail if the password was right. After a wrong password, the answer is the same, without a mail. */
  readonly methods: readonly ('totp' | 'recovery-code' | 'passkey' | 'mail-code')[];
  /** Whether the user has no factor, and has to add an authenticator app. */
  readonly enrol: boolean;
  readonly expiresAt: string;
  /** The options of `passkeyCredential`; `null` without a passkey. */
  readonly passkey: PasskeyRequestOptions | null;
};

export type SecondFactor = (
  | { readonly code: string }
  | { readonly recoveryCode: string }
  | { readonly mailCode: string }
  | { readonly credential: PasskeyCredential }
) & {
  /** Whether the password is enough in this browser for the next 30 days. */
  readonly remember?: boolean | undefined;
};

export type FinishedLogin = RecoveryCodes & { readonly user: User };

export type PendingLoginOptions = {
  /** The `baseUrl` of the AuthClient. */
  readonly baseUrl: string;
  readonly auth: Pick<AuthClient, 'fetch' | 'logInAt'>;
};

export type PasskeyAddition = { readonly name?: string | undefined; readonly signal?: AbortSignal | undefined };

export type PasskeyLogin = {
  /** Offers passkeys in the form: in the suggestions of a field with `autocomplete="username webauthn"`. */
  readonly autofill?: boolean | undefined;
  /** For a "Log in" button: logs in at once with a passkey of this device, or not at all. */
  readonly immediate?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
};

export type PasskeyUse = {
  /** The options that the service has sent already, such as those of a pending log-in. */
  readonly options?: PasskeyRequestOptions | null | undefined;
  readonly signal?: AbortSignal | undefined;
};

export type ServerAuthOptions = {
  /** The address of the service as browsers know it: its `BASE_URL`. */
  readonly baseUrl: string;
  /** `JWT_ISSUER` and `JWT_AUDIENCE` of the service, which access tokens have to name. */
  readonly issuer?: string | undefined;
  readonly audience?: string | undefined;
  /**
   * The origin of the pages as browsers know it. Default: the origin that each request names, which is wrong behind most proxies. Required for bound tokens:
   * their proofs are for this server alone, and a request may name any host.
   */
  readonly origin?: string | undefined;
  /** `__Secure-access_token` with `ACCESS_COOKIE_DOMAIN`. Default: `__Host-access_token`, or `access_token` if the service has no https. */
  readonly cookieName?: '__Host-access_token' | '__Secure-access_token' | 'access_token' | undefined;
  /** For a server that gets the refresh cookie: the service makes access tokens for visitors who have none. */
  readonly pageServer?:
    | {
        /** The id and the secret of this server in `PAGE_SERVERS`. */
        readonly id: string;
        readonly secret: string;
        /** The IP address of a visitor, by which the service limits the requests. */
        readonly visitorAddress: (request: Request) => string;
      }
    | undefined;
  /** The result of `followEndedSessions`: visitors whose session has ended are logged out here within seconds. */
  readonly endedSessions?: Pick<EndedSessions, 'isEnded'> | undefined;
  /** Other origins that `signedInFetch` may send the access token to. */
  readonly origins?: readonly string[] | undefined;
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
};

export type RequireUserOptions = {
  /** With `pageServer`: the page to which visitors without a session are sent. Default: the service sends them to `LOGIN_PAGE_URL`. */
  readonly loginPage?: string | undefined;
};

/** Who the visitors of a server that renders pages are. A call rejects with an AuthError if that cannot be found out; see `requireUser`. */
export type ServerAuth = {
  /** The user of a request, by its `Authorization` or cookies; `null` if nobody is logged in, or the browser has to renew its access token. */
  readonly getUser: (request: Request) => Promise<User | null>;
  /** The user; or a response to send instead of the page: it gets the visitor an access token, leads to the log-in, or is 503 if the service does not answer. */
  readonly requireUser: (request: Request, options?: RequireUserOptions) => Promise<User | Response>;
  /** The address of a page of the service, for a link. The page leads back to the URL of the request, or to `to`, which may be a path. */
  readonly linkTo: (page: UserPage, request: Request, options?: Return) => string;
  /** Like the global `fetch`, with the access token of the visitor, if there is one. */
  readonly signedInFetch: (request: Request, input: string | URL | Request, init?: RequestInit) => Promise<Response>;
};

export type EndedSessionsOptions = Pick<ServerAuthOptions, 'baseUrl' | 'issuer' | 'fetch'> & {
  /** While the list is stale, `stale-ok` (the default) uses the last list, and `refuse` makes `isEnded` throw. */
  readonly whenStale?: 'stale-ok' | 'refuse' | undefined;
  /** Seconds without an answer of the service after which the list is stale. Default: 60. */
  readonly staleAfter?: number | undefined;
  /** Called after each failed request for the list, which is repeated. */
  readonly onError?: ((error: Error) => void) | undefined;
};

/** The sessions that were ended, and the users who were disabled or deleted, as long as their access tokens have not expired. */
export type EndedSessions = {
  /**
   * Whether a verified access token does not count any more, by the lists that have arrived.
   * @param token `sid` is in its header, `sub` and `iat` are claims
   * @throws AuthError with `refuse`, while the list is stale: answer 503
   */
  readonly isEnded: (token: { readonly sid?: unknown; readonly sub?: string; readonly iat?: number }) => boolean;
  readonly close: () => void;
};
