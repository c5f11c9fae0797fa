import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import createHttpError from 'http-errors';
import { errorEnvelopeOf } from './envelope.ts';
import { toAppError } from './exception-filters.ts';
import type { HttpDeps } from './http-deps.ts';
import { REQUEST_ID_HEADER } from './stages/request-preprocessing.ts';
import { securityHeaderLines } from './stages/security-headers.ts';

const STATUS: Readonly<Record<string, number>> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/**
 * Answers what is no HTTP request or did not come whole: the pipeline never sees it, the client gets the envelope all the
 * same. For the server's `clientError` event.
 */
export const clientError = (deps: Pick<HttpDeps, 'ids' | 'clock' | 'version' | 'baseUrl' | 'logger'>) => {
  const protection = securityHeaderLines();
  return async (error: Error & { readonly code?: string }, socket: Duplex): Promise<void> => {
    const status = STATUS[error.code ?? ''] ?? 400;
    deps.logger.info({ code: 'SYS_HTTP_UNEXPECTED_ERROR', reason: error.code, status }, 'unreadable request');
    const requestId = deps.ids.next();
    const failure = toAppError(createHttpError(status));
    const body = JSON.stringify(errorEnvelopeOf(failure, { requestId, version: deps.version }, deps));
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      ...(await protection),
      `${REQUEST_ID_HEADER}: ${requestId}`,
      'Cache-Control: no-store',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
    ];
    // Ended alone, the connection would stay open for as long as the client likes.
    if (socket.writable) socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
    else socket.destroy();
  };
};
