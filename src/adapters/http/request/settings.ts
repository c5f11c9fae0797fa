/** Types of the configuration, and of health checks. This file does not import Koa, so that programs can import the configuration without Koa's types. */

/** The attributes of a cookie, as in SPEC "Refresh cookie". `maxAge` is in milliseconds. */
export type CookieSettings = {
  /** The beginning of the cookie's name. Default: none, as in SPEC. */
  readonly prefix?: string;
  readonly path: string;
  readonly sameSite: 'lax' | 'strict' | 'none';
  readonly secure: boolean;
  readonly maxAge: number;
  /** Default: no attribute, so that only the host of the service gets the cookie. */
  readonly domain?: string;
};

/** The cookie of the access token, for servers of the application. The service itself never reads it (ADR 0023). */
export type AccessCookieSettings = CookieSettings & { readonly name: string };

/** A server that renders pages, and may ask for access tokens of its visitors (ADR 0023). */
export type PageServer = {
  readonly id: string;
  /** SHA-256 of its secret. */
  readonly secretHash: Buffer;
};

/** A health check of a part on which the service depends, such as the database. */
export type Check = { readonly name: string; readonly ping: () => Promise<unknown>; readonly required: boolean };
