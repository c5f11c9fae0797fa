import type { Context } from 'koa';
import type { AppError } from '../../../domain/errors/app-error.ts';
import { monotonicTime } from '../../clock/system.ts';
import { framesOf, redactError } from '../../log/redact-error.ts';
import { isDeclared } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';

const ANSWERED = 'request answered';
const UNREADABLE = 'unreadable request';
/** Sampled lines with the same reason in a minute. An error of a route may have more lines, since most routes have a rate limit as well. */
const MAX_LINES_OF_ROUTE = 10;
const MAX_LINES_WITHOUT_ROUTE = 1;
const MAX_PATH = 200;
const MAX_PROBLEMS = 5;

/** Logs an exception, as often as ADR 0018 allows. */
export const logError = (ctx: Context, error: AppError, deps: HttpDeps): void => {
  const { logger, sampling, nodeEnv } = deps;
  const { code, status, level, reason } = error;
  const { route } = ctx.state;
  ctx.state.loggedError = { code, reason: reason ?? problemsOf(error) };
  const kind = { level, of: error.logMessage, route: route?.name, code, status };
  const maxLines = route === undefined ? MAX_LINES_WITHOUT_ROUTE : MAX_LINES_OF_ROUTE;
  const isSampled = route === undefined || level !== 'info';
  ctx.state.isSuppressed = isSampled && !sampling.admits(kind, { group: reason, maxLines });
  if (ctx.state.isSuppressed) return;
  // The logger cannot add the ids itself, since the scope of stage 4 has ended.
  const line = { ...idsOf(ctx), route: route?.name, code };
  logger[level](
    { ...line, ...(nodeEnv === 'development' && { status }), reason, err: causeOf(error) },
    error.logMessage,
  );
  if (!isDeclared(ctx, error)) logger.error(line, 'undeclared error code');
};

/** What the log has about an error: its cause, or for an error 5xx without a cause, the frames of its own stack. */
const causeOf = (error: AppError): unknown => {
  if (error.cause !== undefined) return redactError(error.cause);
  return error.status >= 500 ? { type: error.name, stack: framesOf(error) } : undefined;
};

/** Logs a response to input that the HTTP server refuses, such as malformed HTTP. */
export const logUnreadable = (status: number, reason: string | undefined, deps: HttpDeps): void => {
  const line = { code: 'SYS_HTTP_UNEXPECTED_ERROR', status };
  deps.onUnreadable?.(status);
  const kind = { level: 'info', of: UNREADABLE, ...line } as const;
  if (deps.sampling.admits(kind, { group: reason, maxLines: MAX_LINES_WITHOUT_ROUTE }))
    deps.logger.info({ ...line, reason }, UNREADABLE);
};

/** SPEC "Slow-request logging". */
const levelOf = (duration: number, status: number, { warn, error }: HttpDeps['slowRequestThresholds']) => {
  if (duration >= error) return 'error';
  if (duration >= warn) return 'warn';
  return status >= 400 ? 'info' : 'debug';
};

/** Logs a response at most once, with its duration since `startedAt`, or else `arrivedAt`. Metrics get the duration since `arrivedAt`. */
export const logRequest = (ctx: Context, deps: HttpDeps): void => {
  const { logger, sampling, slowRequestThresholds, onRequest, nodeEnv } = deps;
  if (ctx.state.isLogged) return;
  ctx.state.isLogged = true;
  const now = monotonicTime();
  const { arrivedAt = now, startedAt = arrivedAt, route, isSuppressed } = ctx.state;
  const duration = now - startedAt;
  const level = levelOf(duration, ctx.status, slowRequestThresholds);
  onRequest?.(route?.name ?? 'none', ctx.status, now - arrivedAt);
  endSpan(ctx);
  const isSlow = level === 'warn' || level === 'error';
  if (!logger.isLevelEnabled(level)) return;
  if (isSlow ? !sampling.admits({ level, of: ANSWERED, route: route?.name }) : isSuppressed) return;
  logger[level](
    {
      ...idsOf(ctx),
      method: ctx.method,
      route: route?.name,
      path: route?.path,
      status: ctx.status,
      duration: Math.round(duration),
      ...(nodeEnv === 'development' && { target: targetPath(ctx), ...ctx.state.loggedError }),
    },
    ANSWERED,
  );
};

/** A request that failed in stage 1 or 2 has no ids. */
const idsOf = ({ request: { id, trace } }: Context) => ({ requestId: id, traceId: trace?.traceId });

/** The methods of RFC 9110 and RFC 5789. In the name of a span, `HTTP` stands for any other method, as OpenTelemetry's conventions say. */
const METHODS = /^(?:GET|HEAD|POST|PUT|DELETE|PATCH|OPTIONS|CONNECT|TRACE)$/;

/** Ends the span of the request. The span lacks the path of the request, which may contain a secret, such as the token of a link. */
const endSpan = ({ method, status, protocol, request, state: { route, loggedError } }: Context): void => {
  const span = request.trace?.span;
  if (!span) return;
  const spanMethod = METHODS.test(method) ? method : 'HTTP';
  const path = route === undefined || route.name === 'fallback' ? undefined : route.path;
  span.rename(path === undefined ? spanMethod : `${spanMethod} ${path}`);
  span.set({
    'http.request.method': spanMethod === 'HTTP' ? '_OTHER' : spanMethod,
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

/** The path of the request target, without the token after an encoded `#`. Koa's `path` is not used, since it throws for some request targets. */
const targetPath = ({ req }: Context): string => (req.url ?? '').replace(/(?:[?#]|%23).*$/s, '').slice(0, MAX_PATH);
