import type { Context } from 'koa';
import type { AppError } from '../../../domain/errors/app-error.ts';
import { monotonicTime } from '../../clock/system.ts';
import { framesOf, redactError } from '../../log/redact-error.ts';
import { isDeclared } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';

const ANSWERED = 'request answered';
const UNREADABLE = 'unreadable request';
/** Lines a minute with one reason. There may be more where a route was reached, since its rate limit applies. */
const MAX_OF_ROUTES = 10;
const MAX_BEFORE_ROUTES = 1;
const MAX_PATH = 200;
const MAX_PROBLEMS = 5;

/** Logs an exception at the level of SPEC "Exception mapping", and as often as ADR 0018 allows. */
export const logError = (ctx: Context, error: AppError, deps: HttpDeps): void => {
  const { logger, sampling, nodeEnv } = deps;
  const { code, status, level, reason } = error;
  const { route } = ctx.state;
  ctx.state.loggedError = { code, reason: reason ?? problemsOf(error) };
  const kind = { level, of: error.logMessage, route: route?.name, code, status };
  const maxLines = route === undefined ? MAX_BEFORE_ROUTES : MAX_OF_ROUTES;
  const isSampled = route === undefined || level !== 'info';
  ctx.state.suppressed = isSampled && !sampling.admits(kind, { group: reason, maxLines });
  if (ctx.state.suppressed) return;
  // The scope of stage 4, which has the ids, has ended.
  const line = { ...idsOf(ctx), route: route?.name, code };
  logger[level](
    { ...line, ...(nodeEnv === 'development' && { status }), reason, err: originOf(error) },
    error.logMessage,
  );
  if (!isDeclared(ctx, error)) logger.error(line, 'undeclared error code');
};

/** The cause of an error, or else the frames of the error itself, if the service is at fault. */
const originOf = (error: AppError): unknown => {
  if (error.cause !== undefined) return redactError(error.cause);
  return error.status >= 500 ? { type: error.name, stack: framesOf(error) } : undefined;
};

/** Logs a response to input that is not HTTP, or did not arrive in time. */
export const logUnreadable = (status: number, reason: string | undefined, deps: HttpDeps): void => {
  const line = { code: 'SYS_HTTP_UNEXPECTED_ERROR', status };
  deps.onUnreadable?.(status);
  const kind = { level: 'info', of: UNREADABLE, ...line } as const;
  if (deps.sampling.admits(kind, { group: reason, maxLines: MAX_BEFORE_ROUTES }))
    deps.logger.info({ ...line, reason }, UNREADABLE);
};

/** SPEC "Slow-request logging". */
const levelOf = (duration: number, status: number, { warn, error }: HttpDeps['slowRequestThresholds']) => {
  if (duration >= error) return 'error';
  if (duration >= warn) return 'warn';
  return status >= 400 ? 'info' : 'debug';
};

/**
 * Logs a response, once: stage 12 calls this for a success, stage 13 for all others. The duration begins with stage 9, or with the arrival of a
 * request that ended before; in the metrics, always with the arrival.
 */
export const logRequest = (ctx: Context, deps: HttpDeps): void => {
  const { logger, sampling, slowRequestThresholds, onRequest, nodeEnv } = deps;
  if (ctx.state.logged) return;
  ctx.state.logged = true;
  const now = monotonicTime();
  const { arrivedAt = now, startedAt = arrivedAt, route, suppressed } = ctx.state;
  const duration = now - startedAt;
  const level = levelOf(duration, ctx.status, slowRequestThresholds);
  onRequest?.(route?.name ?? 'none', ctx.status, now - arrivedAt);
  endSpan(ctx);
  const isSlow = level === 'warn' || level === 'error';
  if (!logger.isLevelEnabled(level)) return;
  if (isSlow ? !sampling.admits({ level, of: ANSWERED, route: route?.name }) : suppressed) return;
  logger[level](
    {
      ...idsOf(ctx),
      method: ctx.method,
      route: route?.name,
      path: route?.path,
      status: ctx.status,
      duration: Math.round(duration),
      ...(nodeEnv === 'development' && { target: pathOf(ctx), ...ctx.state.loggedError }),
    },
    ANSWERED,
  );
};

/** Stages 1 and 2 run before there is a trace. */
const idsOf = ({ request: { id, trace } }: Context) => ({ requestId: id, traceId: trace?.traceId });

/** The methods of OpenTelemetry's conventions. Others are named `HTTP`. */
const METHODS = /^(?:GET|HEAD|POST|PUT|DELETE|PATCH|OPTIONS|CONNECT|TRACE)$/;

/** Ends the span of the request. It has the path of the route: that of the request may name a user, or have the token of a mail. */
const endSpan = ({ method, status, protocol, request, state: { route, loggedError } }: Context): void => {
  const span = request.trace?.span;
  if (!span) return;
  const known = METHODS.test(method) ? method : 'HTTP';
  const path = route === undefined || route.name === 'fallback' ? undefined : route.path;
  span.rename(path === undefined ? known : `${known} ${path}`);
  span.set({
    'http.request.method': known === 'HTTP' ? '_OTHER' : known,
    'http.response.status_code': status,
    'url.scheme': protocol,
    ...(path !== undefined && { 'http.route': path, 'url.path': path }),
    ...(loggedError !== undefined && { 'tandem.error.code': loggedError.code }),
    ...(status >= 500 && { 'error.type': loggedError?.code ?? String(status) }),
  });
  span.end();
};

const problemsOf = ({ details }: AppError): string | undefined =>
  details
    ?.slice(0, MAX_PROBLEMS)
    .map(({ field, message }) => `${field} ${message}`)
    .join(', ');

/** The requested path, without a token behind an encoded `#`. Koa's `path` throws for some request targets. */
const pathOf = ({ req }: Context): string => (req.url ?? '').replace(/(?:[?#]|%23).*$/s, '').slice(0, MAX_PATH);
