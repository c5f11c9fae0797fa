import * as v from 'valibot';
import { systemClock } from '../clock/system.ts';
import { boundedText, tracedFetch } from '../tracing/traced-fetch.ts';

/** The authorization server whose access tokens a mail server takes instead of a password (RFC 7628). */
export type MailOAuth = {
  /** The token endpoint. */
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope?: string | undefined;
  /** The token of the mailbox's owner. Without it, the client gets tokens of its own (client credentials). */
  readonly refreshToken?: string | undefined;
};

const MAX_ANSWER_BYTES = 65_536;
/** Milliseconds before its expiry at which a token is no longer used. */
const MARGIN = 60_000;

const Answer = v.object({ access_token: v.pipe(v.string(), v.minLength(1)), expires_in: v.optional(v.number(), 300) });

/** Quotes nothing of the answer, which may contain secrets. */
const refused = (): Error => Object.assign(new Error('no access token'), { code: 'EOAUTH2' });

/**
 * Gets an access token (RFC 6749 §4.4 and §6).
 * @returns the token, and the time until which it is used, in epoch milliseconds
 * @throws Error with the code EOAUTH2, or of the connection
 */
export const mailToken = async (
  { url, clientId, clientSecret, scope, refreshToken }: MailOAuth,
  timeout: number,
): Promise<{ readonly token: string; readonly expiresAt: number }> => {
  const response = await tracedFetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' },
    body: new URLSearchParams({
      ...(refreshToken === undefined
        ? { grant_type: 'client_credentials' }
        : { grant_type: 'refresh_token', refresh_token: refreshToken }),
      client_id: clientId,
      client_secret: clientSecret,
      ...(scope !== undefined && { scope }),
    }).toString(),
    redirect: 'manual',
    signal: AbortSignal.timeout(timeout),
  }).catch(() => {
    throw refused();
  });
  const text = await boundedText(response, MAX_ANSWER_BYTES);
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), Answer), text);
  if (!response.ok || !success) throw refused();
  return { token: output.access_token, expiresAt: systemClock.now() + output.expires_in * 1_000 - MARGIN };
};
