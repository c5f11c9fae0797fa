/** What the configuration says about requests. Without Koa, whose types no program needs that imports the configuration. */

/** SPEC "Refresh cookie". */
export type CookieSettings = {
  /** Of the name. Default: none, as SPEC has it. */
  readonly prefix?: string;
  readonly path: string;
  readonly sameSite: 'lax' | 'strict' | 'none';
  readonly secure: boolean;
  /** Milliseconds. */
  readonly maxAge: number;
  /** By default, the host of the service alone. */
  readonly domain?: string;
};

/** The cookie of the access token, which the service itself never reads (ADR 0023). */
export type AccessCookieSettings = CookieSettings & { readonly name: string };

/** A server that renders pages, which may ask for access tokens of its visitors (ADR 0023). */
export type PageServer = {
  readonly id: string;
  /** SHA-256 of its secret, which is random. */
  readonly secretHash: Buffer;
};

/** A part of the service that may be unavailable. */
export type Check = {
  readonly name: string;
  readonly ping: () => Promise<unknown>;
  readonly required: boolean;
};
