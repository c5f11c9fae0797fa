import type { Clock } from '../../application/ports/clock-and-ids.ts';
import type { Mailer } from '../../application/ports/mailer.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { tracedFetch } from '../tracing/traced-fetch.ts';
import { isAddress, safeId } from './message.ts';

type HttpOptions = {
  readonly url: string;
  /** An address, or a name and an address in angle brackets. */
  readonly from: string;
  /** The headers of a request, as those of hooks. @param at epoch milliseconds */
  readonly sign: (id: string, at: number, body: string) => Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** Milliseconds. */
  readonly timeout?: number;
};

const TIMEOUT = 20_000;
/** The answer of a server that will never take this mail. */
const REFUSED = 422;

type MailRequest = { readonly id: string; readonly type: 'mail.send' | 'mail.check'; readonly data: object };

/** Sends a request that is signed as Standard Webhooks says. @returns the status */
const ask = async (
  { url, sign, clock, timeout = TIMEOUT }: HttpOptions,
  { id, type, data }: MailRequest,
  signal?: AbortSignal,
) => {
  const now = clock.now();
  const body = JSON.stringify({ type, timestamp: new Date(now).toISOString(), data });
  const ends = AbortSignal.any([AbortSignal.timeout(timeout), ...(signal === undefined ? [] : [signal])]);
  const sent = { method: 'POST', headers: sign(id, now, body), body };
  const response = await tracedFetch(url, { ...sent, redirect: 'manual', signal: ends });
  await response.body?.cancel();
  return response.status;
};

const isDone = (status: number): boolean => status >= 200 && status < 300;

/** Hands mail to a server of the operator's own: 2xx is sent, 422 is refused for good, anything else is tried again. */
export const httpMailer = (options: HttpOptions): Mailer => {
  const closing = new AbortController();
  return {
    close: () => closing.abort(),
    send: async (mail) => {
      if (!isAddress(mail.to)) return 'refused';
      const request = { id: `msg_${safeId(mail)}`, type: 'mail.send', data: { ...mail, from: options.from } } as const;
      const status = await ask(options, request, closing.signal).catch(() => 'no answer');
      if (status === REFUSED) return 'refused';
      if (typeof status === 'number' && isDone(status)) return 'sent';
      throw new AppError('SYS_UNEXPECTED_ERROR', { reason: `The mail was not handed over: ${status}` });
    },
  };
};

/** Asks the server whether it takes mail, without one. @returns why not; `null` when it does. */
export const whyNoHttpMail = async (options: Omit<HttpOptions, 'from'>): Promise<string | null> => {
  const request = { id: `msg_check-${options.clock.now()}`, type: 'mail.check', data: {} } as const;
  const status = await ask({ ...options, from: '' }, request).catch(() => 'no answer');
  return typeof status === 'number' && isDone(status) ? null : String(status);
};
