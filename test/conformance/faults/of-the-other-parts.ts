import {
  altering,
  asking,
  both,
  CLEAR,
  type Fault,
  hasStatus,
  isError,
  isSuccess,
  isTo,
  type Json,
  parsed,
  REFRESH,
  REGISTER,
  withBody,
  withData,
  withHeaders,
  without,
  withStatus,
} from './alterations.ts';
import { reissuing, withHeader } from './token-alterations.ts';

const LIST = isTo('GET /errors');

/** Wrong servers, at least one for each check of the decision records. */
export const EXTENDED_FAULTS: readonly Fault[] = [
  {
    caughtBy: 'success-statuses',
    expected: '201',
    what: '200 to register',
    behavior: altering(both(isTo(REGISTER), isSuccess), withStatus(200)),
  },
  {
    caughtBy: 'success-context',
    expected: 'context.version',
    what: 'no version in successes',
    behavior: altering(
      isSuccess,
      withBody((body) => ({ ...body, context: { requestId: (body.context as Json).requestId } })),
    ),
  },
  {
    caughtBy: 'catalog-fields',
    expected: 'CLIENT_PARAMS_VALIDATION_FAILED: 400, retryable false',
    what: 'everything is retryable',
    behavior: altering(
      LIST,
      withData((data) => (data as unknown as Json[]).map((entry) => ({ ...entry, retryable: true }))),
    ),
  },
  {
    caughtBy: 'malformed-body-details',
    expected: 'CLIENT_PARAMS_VALIDATION_FAILED',
    what: 'another code for malformed bodies',
    behavior: altering(
      hasStatus(400),
      withBody((body) => ({ ...body, code: 'SYS_HTTP_UNEXPECTED_ERROR' })),
    ),
  },
  {
    caughtBy: 'body-size',
    expected: '413',
    what: 'large bodies are read',
    behavior: asking((asked) => (asked.body.length > 16_384 ? { ...asked, body: '{}' } : asked)),
  },
  {
    caughtBy: 'refused-origin',
    expected: 'no CORS headers',
    what: 'CORS headers for every origin',
    behavior: altering(
      hasStatus(403),
      withHeaders((headers) => ({ ...headers, 'access-control-allow-origin': '*' })),
    ),
  },
  {
    caughtBy: 'methods',
    expected: 'Allow with GET',
    what: '405 without Allow',
    behavior: altering(hasStatus(405), without('allow')),
  },
  {
    caughtBy: 'www-authenticate',
    expected: 'WWW-Authenticate: Bearer',
    what: '401 without WWW-Authenticate',
    behavior: altering(isError, without('www-authenticate')),
  },
  {
    caughtBy: 'token-headers',
    expected: 'typ: JWT',
    what: 'tokens without typ',
    behavior: reissuing({ access: withHeader(({ typ: _, ...rest }) => rest) }),
  },
  {
    caughtBy: 'no-store',
    expected: 'no-store',
    what: 'errors may be stored',
    behavior: altering(isError, without('cache-control')),
  },
  {
    caughtBy: 'clear-cookie-ends-session',
    expected: '401',
    what: 'clear-cookie only clears the cookie',
    behavior: asking((asked) =>
      isTo(CLEAR)(asked, { status: 0, headers: {}, body: '' })
        ? { ...asked, headers: { ...asked.headers, cookie: undefined } }
        : asked,
    ),
  },
  {
    caughtBy: 'refused-refresh-keeps-cookie',
    expected: 'no Set-Cookie',
    what: 'a refused refresh clears the cookie',
    behavior: altering(
      both(isTo(REFRESH), isError),
      withHeaders((headers) => ({ ...headers, 'set-cookie': ['refresh_token=; Max-Age=0'] })),
    ),
  },
];

/** Wrong servers in front of a service that limits log-ins. */
export const RATE_LIMIT_FAULTS: readonly Fault[] = [
  {
    caughtBy: 'rate-limit',
    expected: 'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED',
    what: 'another code for the limit',
    behavior: altering(
      hasStatus(429),
      withBody((body) => ({ ...body, code: 'SYS_HTTP_UNEXPECTED_ERROR' })),
    ),
  },
  {
    caughtBy: 'rate-limit-retry-after',
    expected: 'Retry-After',
    what: '429 without Retry-After',
    behavior: altering(hasStatus(429), without('retry-after')),
  },
  {
    caughtBy: 'rate-limit-retry-after',
    expected: 'another status than 429',
    what: 'a Retry-After that is too short',
    behavior: altering(
      (_asked, { body }) => parsed(body).code === 'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED',
      withHeaders((headers) => ({ ...headers, 'retry-after': '0' })),
    ),
  },
];
