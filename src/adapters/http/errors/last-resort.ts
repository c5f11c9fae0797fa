import { STATUS_CODES } from 'node:http';
import type { Context } from 'koa';
import { AppError } from '../../../domain/errors/app-error.ts';
import { redactError } from '../../redaction/redact-error.ts';
import { errorEnvelopeOf } from '../envelope.ts';
import type { HttpDeps } from '../http-deps.ts';
import { logError, logRequest } from '../logging/request-log.ts';
import { REQUEST_ID_HEADER } from '../stages/request-preprocessing.ts';

/** A ULID, for a request to which none could be given. */
const NO_ID = '0'.repeat(26);

/**
 * Takes the place of Koa's own handler, which answers in plain text. What gets here is a fault of stage 13, or of Koa when it
 * writes the answer; most often it only says that the client has gone, or that the answer has been sent, which is no error.
 */
export const lastResort = (deps: HttpDeps) =>
  function onerror(this: Context, fault?: unknown): void {
    if (this.res.writableEnded || isGone(this)) {
      if (fault !== undefined && fault !== null)
        deps.logger.debug({ err: redactError(fault) }, 'the answer could not be sent');
      return;
    }
    const error = new AppError('SYS_UNEXPECTED_ERROR', { cause: fault });
    this.request.id ??= NO_ID;
    attempt(() => answer(this, error, deps));
    // An answer that broke off must not look like a whole one.
    if (!this.res.writableEnded) this.res.destroy();
    attempt(() => {
      logError(this, error, deps);
      logRequest(this, deps);
    });
  };

/** What throws here would end the process; even the log may be what fails. */
const attempt = (work: () => void): void => {
  try {
    work();
  } catch {
    // There is nobody left to tell.
  }
};

/** Of requests that were sent at once, the later ones' answers have no connection yet. */
const isGone = ({ req: { socket } }: Context): boolean => !socket.writable;

/** With as few parts as can be, since one of them has failed. */
const answer = ({ request, res }: Context, error: AppError, { version, baseUrl }: HttpDeps): void => {
  if (res.headersSent) return;
  const envelope = errorEnvelopeOf(error, { requestId: request.id, version }, { baseUrl, clock: Date });
  const body = Buffer.from(JSON.stringify(envelope));
  for (const name of ['Content-Encoding', 'Transfer-Encoding', 'Set-Cookie']) res.removeHeader(name);
  res.writeHead(error.status, STATUS_CODES[error.status], {
    [REQUEST_ID_HEADER]: request.id,
    'Cache-Control': 'no-store',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': body.length,
  });
  res.end(body);
};
