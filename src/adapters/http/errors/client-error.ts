import { errorEnvelopeOf } from '../envelope.ts';
import type { HttpDeps } from '../http-deps.ts';
import { logUnreadable, type UnreadableDeps } from '../logging/request-log.ts';
import { REQUEST_ID_HEADER } from '../stages/request-preprocessing.ts';
import { securityHeaderFields } from '../stages/security-headers.ts';
import { httpFailure } from './http-failure.ts';

type Header = readonly [name: string, value: string];

/**
 * The response to what is not HTTP, or did not arrive completely, and so does not reach the pipeline. The client gets the error
 * envelope. `reason`, from the parser, is only logged.
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
