import type { Clock } from '../../application/ports/clock-and-ids.ts';
import type { Mailer } from '../../application/ports/mailer.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { isAddress, safeId } from './message.ts';

type MailRequest = { readonly id: string; readonly type: 'mail.send' | 'mail.check'; readonly data: object };

type HttpOptions = {
  /** Posts a request, signed like the requests of hooks. @param request `at` is in epoch milliseconds */
  readonly post: (request: MailRequest & { readonly at: number }, signal: AbortSignal) => Promise<Response>;
  readonly clock: Clock;
  readonly timeout?: number;
};

const POST_TIMEOUT = 20_000;
/** The status with which the server says that it will never accept this mail. */
const REFUSED_STATUS = 422;

const postRequest = async (
  { post, clock, timeout = POST_TIMEOUT }: HttpOptions,
  request: MailRequest,
  ...signals: AbortSignal[]
): Promise<number | 'no answer'> => {
  try {
    const signal = AbortSignal.any([AbortSignal.timeout(timeout), ...signals]);
    const response = await post({ ...request, at: clock.now() }, signal);
    await response.body?.cancel();
    return response.status;
  } catch {
    return 'no answer';
  }
};

const isSuccess = (status: number | 'no answer'): boolean => status !== 'no answer' && status >= 200 && status < 300;

/** Posts mail to an HTTP server of the operator, which sends it. A status 2xx means sent, 422 refused for good. After any other, or none, `send` throws. */
export const httpMailer = ({ from, ...options }: HttpOptions & { readonly from: string }): Mailer => {
  const closing = new AbortController();
  return {
    close: () => closing.abort(),
    send: async (mail) => {
      if (!isAddress(mail.to)) return 'refused';
      const request = { id: `msg_${safeId(mail)}`, type: 'mail.send', data: { ...mail, from } } as const;
      const status = await postRequest(options, request, closing.signal);
      if (status === REFUSED_STATUS) return 'refused';
      if (isSuccess(status)) return 'sent';
      throw new AppError('SYS_UNEXPECTED_ERROR', { reason: `The mail was not handed over: ${status}` });
    },
  };
};

/** Asks the operator's server whether it accepts mail. @returns `null` if it does, or else its status or `no answer` */
export const httpMailProblem = async (options: HttpOptions): Promise<string | null> => {
  const status = await postRequest(options, { id: `msg_check-${options.clock.now()}`, type: 'mail.check', data: {} });
  return isSuccess(status) ? null : String(status);
};
