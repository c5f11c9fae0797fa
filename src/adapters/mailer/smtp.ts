import type { Mailer } from '../../application/ports/mailer.ts';
import { isAddress, messageOf } from './message.ts';
import { isRefusal, undelivered, whyOf } from './smtp-errors.ts';

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
