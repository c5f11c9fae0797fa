import { AuthError } from './auth-error.ts';
import { ignore } from './host.ts';
import type { AuthErrorCode, FieldCode, FieldProblem } from './types.ts';

type Detail = { readonly field: string; readonly message: string; readonly code: FieldCode };

type Envelope = {
  readonly success: boolean;
  readonly data: unknown;
  readonly code: AuthErrorCode;
  readonly message: string;
  readonly details: readonly Detail[] | null;
  readonly context: { readonly requestId: string; readonly binding?: 'browser'; readonly deviceKey?: true };
};

/** The envelope of a response; an empty object if the response is no JSON. */
export const bodyOf = async (response: Response): Promise<Partial<Envelope>> =>
  ((await response.json().catch(ignore)) as Envelope | null | undefined) ?? {};

/** @returns `data` of the envelope. @throws AuthError for a response that is no success */
export const dataOf = async <Data>(response: Response): Promise<Data> => {
  const { status, headers } = response;
  const { success, data, code = 'CLIENT_RESPONSE_INVALID', message, details, context } = await bodyOf(response);
  if (success) return data as Data;
  throw new AuthError(code, message ?? `Bad response: ${status}`, {
    retryable: code === 'DB_QUERY_FAILED' || status === 429 || status > 501,
    retryAfter: Number(headers.get('Retry-After')) || null,
    fields: code === 'AUTH_USER_DUPLICATE' ? takenField(message) : (details ?? []).map(withLimit),
    requestId: context?.requestId ?? null,
  });
};

/** The field that AUTH_USER_DUPLICATE is about. Only the message names it: the specification of the service allows `details` for validation errors alone. */
const takenField = (message = ''): readonly FieldProblem[] => {
  const field = /^This (username|email) is/.exec(message)?.[1];
  return field ? [{ field, message, code: 'taken' }] : [];
};

/** The name of the limit that the message of each code states. */
const LIMITS: Partial<Record<FieldCode, 'min' | 'max'>> = {
  too_short: 'min',
  too_small: 'min',
  too_long: 'max',
  too_large: 'max',
};

/** Adds the limit, which is the first number of the message: the specification of the service allows a detail no member for it. */
const withLimit = (detail: Detail): FieldProblem => {
  const name = LIMITS[detail.code];
  // TypeScript cannot see that the code and the added member belong together.
  return (
    name ? { ...detail, [name]: Number.parseInt(detail.message.replace(/\D+/, ''), 10) } : detail
  ) as FieldProblem;
};

/** Removes slashes at the end. @throws TypeError without `http://` or `https://`: `localhost:3000` would be a URL with the scheme `localhost` */
export const baseOf = (baseUrl: string): string => {
  if (!/^https?:\/\//i.test(baseUrl)) throw new TypeError(`No http:// or https:// in baseUrl: ${baseUrl}`);
  return new URL(baseUrl).href.replace(/\/+$/, '');
};
