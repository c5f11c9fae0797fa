import { AuthError } from './auth-error.ts';
import { ignore } from './host.ts';
import type { AuthErrorCode, FieldProblem } from './types.ts';

type Envelope = {
  readonly success: boolean;
  readonly data: unknown;
  readonly code: AuthErrorCode;
  readonly message: string;
  readonly details: readonly FieldProblem[] | null;
  readonly context: { readonly requestId: string; readonly binding?: 'browser' };
};

/** The envelope of a response; nothing of it if it is not the service's. */
export const bodyOf = async (response: Response): Promise<Partial<Envelope>> =>
  ((await response.json().catch(ignore)) as Envelope | null | undefined) ?? {};

/** @returns `data` of the envelope. */
export const dataOf = async <Data>(response: Response): Promise<Data> => {
  const { status, headers } = response;
  const { success, data, code = 'CLIENT_RESPONSE_INVALID', message, details, context } = await bodyOf(response);
  if (success) return data as Data;
  throw new AuthError(code, message ?? `Bad response: ${status}`, {
    retryable: code === 'DB_QUERY_FAILED' || status === 429 || status > 501,
    retryAfter: Number(headers.get('Retry-After')) || null,
    fields: details ?? [],
    requestId: context?.requestId ?? null,
  });
};
