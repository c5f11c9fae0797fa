import * as v from 'valibot';
import type { Mailer } from '../../application/ports/mailer.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { systemClock } from '../clock/system.ts';
import { span } from '../tracing/spans.ts';
import { boundedText, tracedFetch } from '../tracing/traced-fetch.ts';
import { isAddress, messageOf } from './message.ts';

type SmtpOptions = {
  /** `smtp:` or `smtps:`, with a percent-encoded user and password, if any. */
  readonly url: string;
  readonly from: string;
  /** Whether mail fails if the server of an `smtp:` URL offers no STARTTLS. If the server offers it, TLS is used in any case. */
  readonly requireTls: boolean;
  /** Access tokens of this server replace the password in the URL. */
  readonly oauth?: MailOAuth | null;
  /** Milliseconds that one mail may take, or one step of `smtpProblem`. */
  readonly timeout?: number;
};

/** Milliseconds. Some servers delay their greeting to unknown clients. */
const SMTP_TIMEOUT = 60_000;

/** Sends each mail over an SMTP connection of its own. nodemailer is loaded with the first mail (ADR 0021). */
export const smtpMailer = ({ from, ...options }: SmtpOptions): Mailer => {
  const { timeout = SMTP_TIMEOUT } = options;
  const connection = connectionOf({ ...options, timeout });
  const attributes = { 'network.protocol.name': 'smtp', 'server.address': connection.host };
  let transport: ReturnType<typeof openTransport> | undefined;
  const closing = new AbortController();
  return {
    close: () => closing.abort(),
    send: async (mail) => {
      if (!isAddress(mail.to)) return 'refused';
      transport ??= openTransport(connection);
      try {
        // `socketTimeout` restarts with each byte. This signal bounds the whole time.
        const signal = AbortSignal.any([AbortSignal.timeout(timeout), closing.signal]);
        const connected = await transport;
        await span('send mail', attributes, () => connected.sendMail({ ...messageOf(mail, from), signal }));
        return 'sent';
      } catch (error) {
        if (isPermanentRejection(error)) return 'refused';
        // No `cause`, since nodemailer quotes the server, which may quote addresses and passwords.
        throw new AppError('SYS_UNEXPECTED_ERROR', { reason: `The mail was not delivered: ${failureCodes(error)}` });
      }
    },
  };
};

/** Connects to the mail server, and logs in if the URL has a user. @returns why that has failed, without texts of the server, or `null` */
export const smtpProblem = async (options: Omit<SmtpOptions, 'from'> & { readonly timeout: number }) => {
  const transport = await openTransport(connectionOf(options));
  try {
    await transport.verify();
    return null;
  } catch (error) {
    return failureCodes(error);
  } finally {
    transport.close();
  }
};

const openTransport = async (options: ReturnType<typeof connectionOf>) => {
  const { createTransport } = await import('nodemailer');
  return createTransport(options);
};

type TokenCallback = (error: Error | null, token?: string, expiresAt?: number) => void;

/** The credentials for nodemailer: the user of the URL, with its password or an access token (XOAUTH2). */
const authOf = ({ username, password }: URL, oauth: MailOAuth | null, timeout: number) => {
  const user = decodeURIComponent(username);
  if (oauth === null) return { user, pass: decodeURIComponent(password) };
  return {
    ...{ type: 'OAuth2' as const, user },
    provisionCallback: (_user: string, _renew: boolean, done: TokenCallback) => {
      mailToken(oauth, timeout).then(({ token, expiresAt }) => done(null, token, expiresAt), done);
    },
  };
};

const connectionOf = ({ url, requireTls, oauth = null, timeout }: Omit<SmtpOptions, 'from'> & { timeout: number }) => {
  const parsed = new URL(url);
  const { protocol, hostname, port, username } = parsed;
  const secure = protocol === 'smtps:';
  return {
    host: decodeURIComponent(hostname).replace(/^\[|\]$/g, ''),
    ...(port !== '' && { port: Number(port) }),
    secure,
    requireTLS: requireTls && !secure,
    ...(username !== '' && { auth: authOf(parsed, oauth, timeout) }),
    ...{ connectionTimeout: timeout, dnsTimeout: timeout, greetingTimeout: timeout, socketTimeout: timeout },
    // Without this option, nodemailer does not find a server on this machine while the machine is offline.
    allowInternalNetworkInterfaces: true,
    logger: false,
  };
};

/** Permanent replies about authentication (RFC 4954 §6). */
const AUTHENTICATION_REPLY = /^53\d$/;

/** Whether the server has permanently rejected this recipient or message. If it rejects the log-in or the sender, operators can correct that for all mail. */
const isPermanentRejection = (error: unknown): boolean => {
  if (typeof error !== 'object' || error === null) return false;
  const { command, permanent, responseCode } = error as Readonly<Record<string, unknown>>;
  const isAboutMail = command === 'RCPT TO' || command === 'DATA';
  return isAboutMail && permanent === true && !AUTHENTICATION_REPLY.test(String(responseCode));
};

/** A code or the name of a command: `ETIMEDOUT`, `SOCKET_TIMEOUT`, `RCPT TO`, `451`. */
const LOGGABLE_CODE = /^[A-Z][A-Z0-9_]{1,40}(?: [A-Z0-9-]{2,12})?$|^\d{3}$/;
/** Why nodemailer or the file system has failed, in codes, without texts that may quote a server, an address or a path. */
export const failureCodes = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  const { code, originalCode, timeoutType, command, responseCode } = error as Error & Readonly<Record<string, unknown>>;
  const words = [code, originalCode, timeoutType, command, responseCode].map((value) => String(value ?? ''));
  return words.filter((word) => LOGGABLE_CODE.test(word)).join(', ') || 'unknown';
};

/** An authorization server whose access tokens a mail server accepts instead of a password (XOAUTH2). */
export type MailOAuth = {
  /** The token endpoint. */
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope?: string | undefined;
  /** A refresh token of the mailbox's owner. Without one, the client gets tokens for itself (client credentials). */
  readonly refreshToken?: string | undefined;
};

const MAX_ANSWER_BYTES = 65_536;
const EXPIRY_MARGIN = 60_000;

const Token = v.object({ access_token: v.pipe(v.string(), v.minLength(1)), expires_in: v.optional(v.number(), 300) });

/** The message quotes no part of the server's answer, which may contain secrets. */
const noTokenError = (): Error => Object.assign(new Error('no access token'), { code: 'EOAUTH2' });

/**
 * Gets an access token (RFC 6749 §4.4 and §6).
 * @returns the token, and the time from which another one is fetched, in epoch milliseconds
 * @throws Error with the code EOAUTH2 if it gets no token
 */
export const mailToken = async ({ url, clientId, clientSecret, scope, refreshToken }: MailOAuth, timeout: number) => {
  const answer = await tracedFetch(url, {
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
  })
    .then(async (response) => ({ ok: response.ok, text: await boundedText(response, MAX_ANSWER_BYTES) }))
    .catch(() => {
      throw noTokenError();
    });
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), Token), answer.text);
  if (!answer.ok || !success) throw noTokenError();
  return { token: output.access_token, expiresAt: systemClock.now() + output.expires_in * 1_000 - EXPIRY_MARGIN };
};
