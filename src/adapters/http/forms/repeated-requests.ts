import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from 'koa';
import type { Secrets } from '../../../application/ports/secrets.ts';
import { AppError, type AppErrorOptions } from '../../../domain/errors/app-error.ts';
import type { ErrorCode } from '../../../domain/errors/catalog.ts';
import { monotonicTime } from '../../clock/system.ts';
import { ANSWERS_PREFIX, type Counts } from '../../limits/counts.ts';
import { toAppError } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';
import { PAGE_STATE_COOKIE, REFRESH_COOKIE } from '../request/cookies.ts';

/** How long the response to a request is kept for the same request. */
const KEPT_FOR = 10_000;
/** While a request is handled, its process renews a lock at this interval. */
const RENEWAL_INTERVAL = 1_000;
const LOCK_LIFETIME = 5_000;
/** Between two looks for the response to the first request. */
const POLL_INTERVAL = 50;
/** Characters, before encryption. Two cookies of the length that browsers allow, the other ones and a location have some 11,000 at most. */
const MAX_LENGTH = 12_000;

/** A name for a request, and its encryption, both derived from the request. */
type SealedBy = (text: string) => {
  readonly name: string;
  readonly encrypt: (plain: string) => string;
  readonly decrypt: (sealed: string) => string | null;
};

/** Where the browser goes, or an error, with the headers that the first request has set. */
type Answer = { readonly headers: Record<string, string | string[]> } & (
  | { readonly location: string }
  | { readonly code: ErrorCode; readonly options: AppErrorOptions }
);

/** Errors have them as well: that of a pending log-in has its cookie. */
const KEPT_HEADERS = ['Set-Cookie', 'Secure-Session-Registration'];

/** @returns JSON; empty after a fault of the service, which may be over at the next try. */
const answerOf = async (ctx: Context, work: Promise<string>): Promise<string> => {
  const result = await work.then(
    (location) => ({ location }),
    (exception: unknown) => {
      const { code, status, level, message, hookMessage, details, reason, retryAfter, stepUp } = toAppError(exception);
      return { code, options: { status, level, message, hookMessage, details, reason, retryAfter, stepUp } };
    },
  );
  if ('code' in result && result.options.status >= 500) return '';
  const headers = Object.fromEntries(KEPT_HEADERS.map((name) => [name, ctx.res.getHeader(name)]));
  return JSON.stringify({ ...result, headers });
};

/** Cookies that may change between the same two requests: the refresh token rotates, and the state of a page is cleared once it is shown. */
const IGNORED_COOKIES = [REFRESH_COOKIE, PAGE_STATE_COOKIE];

/** Responses are kept with the counts of limits, for all instances that share these. Only the request itself can decrypt them. */
export const repeatedRequests =
  (counts: Pick<Counts, 'replace'>, sealedBy: SealedBy, random: Secrets['random']): HttpDeps['answerOnce'] =>
  async (ctx, fields, work) => {
    if (fields === null) return work();
    const cookies = [...ctx.request.cookies].filter(([name]) => !IGNORED_COOKIES.some((each) => name.endsWith(each)));
    const seal = sealedBy(JSON.stringify([ctx.url, cookies, ...fields]));
    const name = ANSWERS_PREFIX + seal.name;
    // A random lock: a process that has lost it must not store its answer over that of the next one.
    const lock = random();
    const until = monotonicTime() + KEPT_FOR;
    while (true) {
      const other = await counts.replace(name, '', lock, LOCK_LIFETIME);
      if (other === null) break;
      const sealed = seal.decrypt(other.text);
      if (sealed !== null) return answerAgain(ctx, JSON.parse(sealed));
      // The first request hangs. This one must not wait for it any longer.
      if (monotonicTime() >= until) return work();
      await pause(POLL_INTERVAL);
    }
    const renewal = setInterval(() => void counts.replace(name, lock, lock, LOCK_LIFETIME), RENEWAL_INTERVAL);
    const running = work();
    const answer = await answerOf(ctx, running).finally(() => clearInterval(renewal));
    const sealed = answer === '' || answer.length > MAX_LENGTH ? '' : seal.encrypt(answer);
    await counts.replace(name, lock, sealed, KEPT_FOR);
    return running;
  };

const answerAgain = (ctx: Context, answer: Answer): string => {
  ctx.set(answer.headers);
  if ('location' in answer) return answer.location;
  throw new AppError(answer.code, answer.options);
};
