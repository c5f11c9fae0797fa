import type { Mailer } from '../../application/ports/mailer.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { span } from '../tracing/spans.ts';
import { isAddress, messageOf } from './message.ts';

type SmtpOptions = {
  /** `smtp:` or `smtps:`; user and password percent-encoded. */
  readonly url: string;
  /** An address, or a name and an address in angle brackets. */
  readonly from: string;
  /** Whether `smtp:` requires STARTTLS. It is used in any case where the server offers it. */
  readonly requireTls: boolean;
  /** Milliseconds that one mail may take. */
  readonly timeout?: number;
};

/** Milliseconds. Some servers delay their greeting to unknown clients. */
const SMTP_TIMEOUT = 60_000;

/**
 * Sends mail over SMTP, with a connection for each. nodemailer has 39 modules, so it is loaded with the first mail (ADR 0021).
 */
export const smtpMailer = ({ url, from, requireTls, timeout = SMTP_TIMEOUT }: SmtpOptions): Mailer => {
  const options = connectionOf(new URL(url), requireTls, timeout);
  const attributes = { 'network.protocol.name': 'smtp', 'server.address': options.host };
  let transport: ReturnType<typeof open> | undefined;
  const closing = new AbortController();
  return {
    close: () => closing.abort(),
    send: async (mail) => {
      if (!isAddress(mail.to)) return 'refused';
      transport ??= open(options);
      try {
        // The time-outs of the connection restart with each byte, so a slow server could prolong them without end.
        const signal = AbortSignal.any([AbortSignal.timeout(timeout), closing.signal]);
        const connected = await transport;
        await span('send mail', attributes, () => connected.sendMail({ ...messageOf(mail, from), signal }));
        return 'sent';
      } catch (error) {
        if (isPermanentRejection(error)) return 'refused';
        throw undelivered(error);
      }
    },
  };
};

/**
 * Connects to the mail server and logs in, without sending a mail.
 * @returns why it failed, without texts of the server; `null` when mail can be sent.
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
    // Each of them also covers STARTTLS.
    connectionTimeout: timeout,
    dnsTimeout: timeout,
    greetingTimeout: timeout,
    socketTimeout: timeout,
    // Without this, the name of this machine cannot be resolved while it is offline.
    allowInternalNetworkInterfaces: true,
    logger: false,
  };
};

/** Replies about authentication (RFC 4954 §6): the configuration is at fault, not the mail. */
const ABOUT_LOGIN = /^53\d$/;

/**
 * Whether the server permanently rejected this recipient or this message. A rejected log-in or sender concerns all mail, and can be
 * corrected, so it does not count.
 */
export const isPermanentRejection = (error: unknown): boolean => {
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
