import createHttpError from 'http-errors';
import { errorEnvelopeOf } from '../envelope.ts';
import type { HttpDeps } from '../http-deps.ts';
import { logUnreadable, type UnreadableDeps } from '../logging/request-log.ts';
import { REQUEST_ID_HEADER } from '../stages/request-preprocessing.ts';
import { securityHeaderFields } from '../stages/security-headers.ts';
import { toAppError } from './exception-filters.ts';

type Header = readonly [name: string, value: string];

/**
 * Answers what is no HTTP request or did not come whole: the pipeline never sees it, the client gets the envelope all the
 * same. What the parser said of it stays in the log.
 */
export const clientError = (deps: Pick<HttpDeps, 'ids' | 'clock' | 'version' | 'baseUrl'> & UnreadableDeps) => {
  const protection = securityHeaderFields();
  return async (status: number, reason: string | undefined) => {
    logUnreadable(status, reason, deps);
    const requestId = deps.ids.next();
    const failure = toAppError(createHttpError(status));
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
