import type { Context } from 'koa';
import { AppError } from '../../../domain/errors/app-error.ts';
import { redactError } from '../../log/redact-error.ts';
import type { HttpDeps } from '../http-deps.ts';
import { logError, logRequest, logUnreadable } from '../logging/request-log.ts';
import { STATUS_CODES } from '../node-http.ts';
import { REQUEST_ID_HEADER, SECURITY_HEADERS } from '../stages/arrival.ts';
import { errorEnvelopeOf } from '../stages/envelopes.ts';
import { httpFailure } from './exceptions.ts';

/** A valid ULID in place of the id of a request that failed before it got one. */
const UNKNOWN_ID = '0'.repeat(26);

/** Replaces Koa's error handler, which responds in plain text. Koa calls it with errors of stage 13, and of writing, such as a client that hung up. */
export const lastResort = (deps: HttpDeps) =>
  function onerror(this: Context, fault?: unknown): void {
    // `req.socket`, since a pipelined response has no socket before its turn.
    if (this.res.writableEnded || !this.req.socket.writable) {
      if (fault !== undefined && fault !== null)
        deps.logger.debug({ err: redactError(fault) }, 'the response could not be sent');
      return;
    }
    const error = new AppError('SYS_UNEXPECTED_ERROR', { cause: fault });
    this.request.id ??= UNKNOWN_ID;
    ignoreErrors(() => respondAnyhow(this, error, deps));
    // Without this, a response that was cut off could look complete.
    if (!this.res.writableEnded) this.res.destroy();
    ignoreErrors(() => {
      logError(this, error, deps);
      logRequest(this, deps);
    });
  };

/** An exception of Koa's error handler would end the process. */
const ignoreErrors = (work: () => void): void => {
  try {
    work();
  } catch {
    // The log itself may have failed, so the exception cannot be reported.
  }
};

/** Responds by Node.js alone, and with the clock of JavaScript, since some part of the service has failed. */
const respondAnyhow = ({ request, res }: Context, error: AppError, { version, baseUrl }: HttpDeps): void => {
  if (res.headersSent) return;
  const { headers, body } = errorResponse(error, request.id, { version, baseUrl, clock: Date });
  for (const name of ['Content-Encoding', 'Transfer-Encoding', 'Set-Cookie']) res.removeHeader(name);
  res.writeHead(error.status, STATUS_CODES[error.status], { ...headers, 'Content-Length': Buffer.byteLength(body) });
  res.end(body);
};

const errorResponse = (error: AppError, requestId: string, deps: Pick<HttpDeps, 'clock' | 'version' | 'baseUrl'>) => ({
  headers: {
    [REQUEST_ID_HEADER]: requestId,
    'Cache-Control': 'no-store',
    'Content-Type': 'application/json; charset=utf-8',
  },
  body: JSON.stringify(errorEnvelopeOf(error, { requestId, version: deps.version }, deps)),
});

/** Makes the response to input that the HTTP server refuses, such as malformed HTTP. The `reason` is for the log alone. */
export const clientError = (deps: HttpDeps) => async (status: number, reason: string | undefined) => {
  logUnreadable(status, reason, deps);
  const { headers, body } = errorResponse(httpFailure(status), deps.ids.next(), deps);
  return { status, headers: [...SECURITY_HEADERS, ...Object.entries(headers)], body };
};
