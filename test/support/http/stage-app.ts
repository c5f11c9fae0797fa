import { STATUS_CODES } from 'node:http';
import type { Context } from 'koa';
import request from 'supertest';
import * as v from 'valibot';
import { onTestFinished } from 'vitest';
import { systemClock, ulidGenerator } from '../../../src/adapters/clock/system.ts';
import { encryptionFromSecret, randomSecrets } from '../../../src/adapters/crypto/secrets.ts';
import { createApp } from '../../../src/adapters/http/app.ts';
import { repeatedRequests } from '../../../src/adapters/http/forms/repeated-requests.ts';
import type { HttpDeps } from '../../../src/adapters/http/http-deps.ts';
import { logSampling } from '../../../src/adapters/http/logging/log-sampling.ts';
import { type HandlerInput, type Route, route } from '../../../src/adapters/http/routing/define-route.ts';
import { idsOfRequest } from '../../../src/adapters/http/stages/arrival.ts';
import { memoryCounts } from '../../../src/adapters/limits/counts.ts';
import { CATALOG, type ErrorCode } from '../../../src/domain/errors/catalog.ts';
import { userFailures } from '../../../src/infrastructure/compose/pages.ts';
import { parseConfig } from '../../../src/infrastructure/config.ts';
import { listen } from '../../../src/infrastructure/http-server/server.ts';
import { createLogger } from '../../../src/infrastructure/logging/log.ts';
import { PAGE_FILES } from '../../../src/infrastructure/template-files.ts';
import { watchAnswers } from '../openapi/watched.ts';
import type { LogLine } from './service.ts';

/** The stages of SPEC "Request processing" in order, by name. Stage 13 wraps all others; stages 12, 11 and 10 run on the way out. */
export const ORDER = [
  'errorEnvelope',
  'securityHeaders',
  'cookieParsing',
  'requestPreprocessing',
  'requestScope',
  'crossOrigin',
  'dispatch',
  'ratelimit',
  'authenticationGuard',
  'inputValidation',
  'startTiming',
  'successEnvelope',
  'responseSerialization',
  'handlerTimeout',
  'callHandler',
];

export type StageDeps = HttpDeps & { readonly trustProxy: number };

const renderUserError = userFailures(parseConfig({ NODE_ENV: 'test' }), PAGE_FILES.builtIn);

/** The dependencies of the stages, without rate limits and with no token valid. `logs` receives the lines of all levels. */
export const stageDeps = (given: Partial<StageDeps> = {}): StageDeps & { readonly logs: readonly LogLine[] } => {
  const logs: LogLine[] = [];
  const destination = { write: (line: string) => logs.push(JSON.parse(line)) };
  const logger = createLogger({ level: 'trace', nodeEnv: 'test', destination }, idsOfRequest);
  return {
    logger,
    sampling: logSampling(logger),
    clock: systemClock,
    ids: ulidGenerator(systemClock),
    authenticate: async () => ({ ok: false, reason: 'unknown_key' }),
    assertSteppedUp: async () => undefined,
    visitorToken: async () => undefined,
    ownOrigins: [],
    version: '1.2.3',
    nodeEnv: 'test',
    baseUrl: 'https://auth.example.org',
    allowedOrigins: [],
    renderUserError,
    allowedHeaders: [],
    allowedOriginsSetting: 'ALLOWED_ORIGINS_DEV',
    rateLimits: { global: null, strict: null, public: null },
    counts: memoryCounts(),
    answerOnce: repeatedRequests(memoryCounts(), encryptionFromSecret, randomSecrets.random),
    requestTimeoutMs: 30_000,
    slowRequestThresholds: { warn: 1_000, error: 3_000 },
    trustProxy: 0,
    logs,
    ...given,
  };
};

export type StageApp = {
  readonly url: string;
  /** A supertest client of the listening application. */
  readonly http: ReturnType<typeof request>;
  readonly logs: readonly LogLine[];
  /** Returns and forgets the answers that do not match the routes' OpenAPI document. An answer not taken here fails the test. */
  readonly undocumented: () => string[];
};

/**
 * Starts the application as `compose.ts` composes it, with the given routes, and stops it at the end of the test.
 * @param requestTimeoutMs milliseconds in which a request must arrive, without the time of its handler
 */
export const stageApp = async (
  routes: readonly Route[],
  given: Partial<StageDeps> = {},
  requestTimeoutMs = 30_000,
): Promise<StageApp> => {
  const { logs, ...deps } = stageDeps(given);
  const { handlers, assertDocumented, undocumented } = watchAnswers(createApp(routes, deps), routes);
  const server = await listen(handlers, { host: '127.0.0.1', port: 0, requestTimeoutMs });
  onTestFinished(async () => {
    await server.close();
    assertDocumented();
  });
  const url = `http://127.0.0.1:${server.address.port}`;
  return { url, http: request(url), logs, undocumented };
};

type Probe = Partial<Pick<Route, 'name' | 'method' | 'path' | 'auth' | 'throttle' | 'stepUp'>> & {
  readonly request?: { readonly [Part in 'body' | 'query' | 'params']?: v.GenericSchema };
  readonly response?: Omit<Route['response'], 'status'> & { readonly status?: number };
  readonly errors?: readonly ErrorCode[];
};

// `Object.keys` returns `string[]`, whatever the type of the object.
const EVERY_CODE = Object.keys(CATALOG) as ErrorCode[];
const EVERY_ERROR_STATUS = Object.keys(STATUS_CODES)
  .map(Number)
  .filter((status) => status >= 400);

/** A public route that declares every error code. By default it is `GET /probe` without input. */
export const probe = (
  handler: (input: HandlerInput, ctx: Context) => unknown,
  { method = 'GET', path = '/probe', ...given }: Probe = {},
): Route =>
  route({
    name: 'probe',
    tag: 'health',
    summary: 'A test',
    at: `${method} ${path}`,
    auth: 'public',
    response: { data: v.optional(v.unknown(), null) },
    errors: EVERY_CODE,
    httpStatuses: EVERY_ERROR_STATUS,
    ...(given as object),
    handler,
  });

/** The route `POST /upload`, which takes an object. */
export const upload = (handler?: (input: HandlerInput, ctx: Context) => null): Route =>
  probe(handler ?? (() => null), {
    name: 'upload',
    method: 'POST',
    path: '/upload',
    request: { body: v.looseObject({}) },
  });

/** The route `GET /probe` with a handler that throws the exception. */
export const throwing = (exception: unknown): Route =>
  probe(() => {
    throw exception;
  });

export const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/;
