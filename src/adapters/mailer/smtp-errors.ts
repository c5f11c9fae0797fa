import { AppError } from '../../domain/errors/app-error.ts';

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
