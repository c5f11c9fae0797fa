import type { Mailer } from '../../application/ports/mailer.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { isAddress, messageOf } from './message.ts';

type SmtpOptions = {
  /** `smtp:` or `smtps:`; user and password percent-encoded. */
  readonly url: string;
  /** An address, or a name and an address in angle brackets. */
  readonly from: string;
  /** Whether to send nothing over `smtp:` without STARTTLS. If it is offered, it is used in any case. */
  readonly requireTls: boolean;
  /** Milliseconds that one mail may take. */
  readonly timeout?: number;
};

/** Milliseconds. Servers may make unknown clients wait before they greet them. */
const SMTP_TIMEOUT = 60_000;

/**
 * Mail over SMTP, a connection for each. nodemailer, which has 39 modules, is loaded with the first mail and not at the start (ADR 0035).
 */
export const smtpMailer = ({ url, from, requireTls, timeout = SMTP_TIMEOUT }: SmtpOptions): Mailer => {
  const options = connectionOf(new URL(url), requireTls, timeout);
  let transport: ReturnType<typeof open> | undefined;
  const closing = new AbortController();
  return {
    close: () => closing.abort(),
    send: async (mail) => {
      if (!isAddress(mail.to)) return 'refused';
      transport ??= open(options);
      try {
        // The time-outs of a connection count from the last byte, and a slow server could send one now and then.
        const signal = AbortSignal.any([AbortSignal.timeout(timeout), closing.signal]);
        await (await transport).sendMail({ ...messageOf(mail, from), signal });
        return 'sent';
      } catch (error) {
        if (isRefusal(error)) return 'refused';
        throw undelivered(error);
      }
    },
  };
};

/**
 * Connects to the mail server and logs in, as for a mail, and sends none.
 * @returns a few words about why it failed, without texts of the server; `null` when mail can be sent.
 */
export const whyNoMail = async ({ url, requireTls, timeout }: Omit<Required<SmtpOptions>, 'from'>) => {
  const transport = await open(connectionOf(new URL(url), requireTls, timeout));
  try {
    await transport.verify();
    return null;
  } catch (error) {
    return whyOf(error);
  } finally {
    transport.close();
  }
};

const open = async (options: ReturnType<typeof connectionOf>) => {
  const { createTransport } = await import('nodemailer');
  return createTransport(options);
};

const connectionOf = ({ protocol, hostname, port, username, password }: URL, requireTls: boolean, timeout: number) => {
  const secure = protocol === 'smtps:';
  return {
    host: decodeURIComponent(hostname).replace(/^\[|\]$/g, ''),
    ...(port !== '' && { port: Number(port) }),
    secure,
    requireTLS: requireTls && !secure,
    ...(username !== '' && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    // From the look-up of the name to the end of STARTTLS.
    connectionTimeout: timeout,
    dnsTimeout: timeout,
    greetingTimeout: timeout,
    socketTimeout: timeout,
    // Without this, the name of this machine cannot be resolved while it is offline.
    allowInternalNetworkInterfaces: true,
    logger: false,
  };
};

/** Replies about the log-in and its encryption (RFC 4954 §6): the configuration is at fault, and not the mail. */
const ABOUT_LOGIN = /^53\d$/;

/**
 * Whether the server refused this recipient or this message for good. A refusal of the log-in or of the sender is not one: it
 * concerns all mail, and may be corrected.
 */
export const isRefusal = (error: unknown): boolean => {
  if (typeof error !== 'object' || error === null) return false;
  const { command, permanent, responseCode } = error as Readonly<Record<string, unknown>>;
  const isAboutMail = command === 'RCPT TO' || command === 'DATA';
  return isAboutMail && permanent === true && !ABOUT_LOGIN.test(String(responseCode));
};

/**
 * The error for a mail that was not delivered, without a `cause`: the messages of nodemailer quote the server, which quotes
 * addresses and passwords.
 */
export const undelivered = (error: unknown): AppError =>
  new AppError('SYS_UNEXPECTED_ERROR', { reason: `The mail was not delivered: ${whyOf(error)}` });

/** A code or the name of a command: `ETIMEDOUT`, `SOCKET_TIMEOUT`, `RCPT TO`, `451`. */
const WORDS = /^[A-Z][A-Z0-9_]{1,40}(?: [A-Z0-9-]{2,12})?$|^\d{3}$/;
export const whyOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  const { code, originalCode, timeoutType, command, responseCode } = error as Error & Readonly<Record<string, unknown>>;
  const words = [code, originalCode, timeoutType, command, responseCode].map((value) => String(value ?? ''));
  return words.filter((word) => WORDS.test(word)).join(', ') || 'unknown';
};
