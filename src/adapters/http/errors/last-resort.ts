import { STATUS_CODES } from 'node:http';
import type { Context } from 'koa';
import { AppError } from '../../../domain/errors/app-error.ts';
import { redactError } from '../../log/redact-error.ts';
import { errorEnvelopeOf } from '../envelope.ts';
import type { HttpDeps } from '../http-deps.ts';
import { logError, logRequest, logUnreadable, type UnreadableDeps } from '../logging/request-log.ts';
import { REQUEST_ID_HEADER } from '../stages/request-scope.ts';
import { securityHeaderFields } from '../stages/security-headers.ts';
import { httpFailure } from './exceptions.ts';

/** A valid ULID, for a request without an id. */
const NO_ID = '0'.repeat(26);

/**
 * Replaces Koa's error handler, which responds in plain text. It gets errors of stage 13, and of Koa while it writes the response. Most of
 * them only report that the client is gone, or that the response has been sent.
 */
export const lastResort = (deps: HttpDeps) =>
  function onerror(this: Context, fault?: unknown): void {
    if (this.res.writableEnded || isGone(this)) {
      if (fault !== undefined && fault !== null)
        deps.logger.debug({ err: redactError(fault) }, 'the response could not be sent');
      return;
    }
    const error = new AppError('SYS_UNEXPECTED_ERROR', { cause: fault });
    this.request.id ??= NO_ID;
    attempt(() => respond(this, error, deps));
    // A response that was cut off must not look complete.
    if (!this.res.writableEnded) this.res.destroy();
    attempt(() => {
      logError(this, error, deps);
      logRequest(this, deps);
    });
  };

/** An exception from here would end the process. Even the log may fail. */
const attempt = (work: () => void): void => {
  try {
    work();
  } catch {
    // There is nowhere left to report it.
  }
};

/** Asks the socket of the request, since a pipelined response has no socket before its turn. */
const isGone = ({ req: { socket } }: Context): boolean => !socket.writable;

/** Uses few parts of the service, since one of them has failed. */
const respond = ({ request, res }: Context, error: AppError, { version, baseUrl }: HttpDeps): void => {
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

type Header = readonly [name: string, value: string];

/**
 * The response to input that does not reach the pipeline, because it is not HTTP or did not arrive completely: an error envelope. The
 * `reason` of the parser is only logged.
 */
export const clientError = (deps: Pick<HttpDeps, 'ids' | 'clock' | 'version' | 'baseUrl'> & UnreadableDeps) => {
  const protection = securityHeaderFields();
  return async (status: number, reason: string | undefined) => {
    logUnreadable(status, reason, deps);
    const requestId = deps.ids.next();
    const failure = httpFailure(status);
    const headers: readonly Header[] = [
      ...(await protection),
      [REQUEST_ID_HEADER, requestId],
      ['Cache-Control', 'no-store'],
      ['Content-Type', 'application/json; charset=utf-8'],
    ];
    const body = JSON.stringify(errorEnvelopeOf(failure, { requestId, version: deps.version }, deps));
    return { status, headers, body };
  };
};
