import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import createHttpError from 'http-errors';
import { errorEnvelopeOf } from './envelope.ts';
import { toAppError } from './exception-filters.ts';
import type { HttpDeps } from './http-deps.ts';
import { REQUEST_ID_HEADER } from './stages/request-preprocessing.ts';

const STATUS: Readonly<Record<string, number>> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/**
 * Answers what is no HTTP request or did not come whole: the pipeline never sees it, the client gets the envelope all the
 * same. For the server's `clientError` event.
 */
export const clientError =
  (deps: Pick<HttpDeps, 'ids' | 'clock' | 'version' | 'baseUrl' | 'logger'>) =>
  (error: Error & { readonly code?: string }, socket: Duplex): void => {
    const status = STATUS[error.code ?? ''] ?? 400;
    deps.logger.info({ code: 'SYS_HTTP_UNEXPECTED_ERROR', reason: error.code, status }, 'unreadable request');
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const requestId = deps.ids.next();
    const failure = toAppError(createHttpError(status));
    const body = JSON.stringify(errorEnvelopeOf(failure, { requestId, version: deps.version }, deps));
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Cache-Control: no-store',
      'X-Content-Type-Options: nosniff',
      `${REQUEST_ID_HEADER}: ${requestId}`,
      'Connection: close',
    ];
    // Ended alone, the connection would stay open for as long as the client likes.
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
  };
