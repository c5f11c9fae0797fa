/** Types of the configuration. They are apart from Koa, whose types programs that import the configuration need not have. */

/** SPEC "Refresh cookie". */
export type CookieSettings = {
  /** Precedes the name. Default: none, as in SPEC. */
  readonly prefix?: string;
  readonly path: string;
  readonly sameSite: 'lax' | 'strict' | 'none';
  readonly secure: boolean;
  readonly maxAge: number;
  /** Default: the host of the service alone. */
  readonly domain?: string;
};

/** The cookie of the access token, which the service itself never reads (ADR 0023). */
export type AccessCookieSettings = CookieSettings & { readonly name: string };

/** A server that renders pages, and may ask for access tokens of its visitors (ADR 0023). */
export type PageServer = {
  readonly id: string;
  /** SHA-256 of its random secret. */
  readonly secretHash: Buffer;
};

/** The check of a part of the service that may be unavailable. */
export type Check = {
  readonly name: string;
  readonly ping: () => Promise<unknown>;
  readonly required: boolean;
};
