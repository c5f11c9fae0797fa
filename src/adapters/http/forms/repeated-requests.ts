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

/** How long the answer to a request is stored for its repetition, in milliseconds. */
const ANSWER_LIFETIME = 10_000;
/** While a process handles a request, it renews its lock at this interval, in milliseconds. */
const RENEWAL_INTERVAL = 1_000;
const LOCK_LIFETIME = 5_000;
/** The second of two equal requests looks for the answer to the first one at this interval, in milliseconds. */
const POLL_INTERVAL = 50;
/** Characters of an answer before its encryption. A longer answer is not stored. */
const MAX_LENGTH = 12_000;

/** Derives from the text of a request a name for its answer, and a key that encrypts the answer. */
type SealOf = (text: string) => {
  readonly name: string;
  readonly encrypt: (plain: string) => string;
  readonly decrypt: (sealed: string) => string | null;
};

/** The URL to which the browser goes, or an error, and headers of the response. */
type Answer = { readonly headers: Record<string, string | string[]> } & (
  | { readonly location: string }
  | { readonly code: ErrorCode; readonly options: AppErrorOptions }
);

/** The headers that an answer has, even if it is an error: that for a missing second factor sets the cookie of the pending log-in. */
const ANSWER_HEADERS = ['Set-Cookie', 'Secure-Session-Registration'];

/** @returns the answer as JSON; empty after an error 5xx, since the next attempt may succeed */
const serializedAnswer = async (ctx: Context, work: Promise<string>): Promise<string> => {
  const result = await work.then(
    (location) => ({ location }),
    (exception: unknown) => {
      const { code, status, level, message, hookMessage, details, reason, retryAfter, stepUp } = toAppError(exception);
      return { code, options: { status, level, message, hookMessage, details, reason, retryAfter, stepUp } };
    },
  );
  if ('code' in result && result.options.status >= 500) return '';
  const headers = Object.fromEntries(ANSWER_HEADERS.map((name) => [name, ctx.res.getHeader(name)]));
  return JSON.stringify({ ...result, headers });
};

/** Cookies in which two equal requests may differ: the refresh token rotates, and a page clears its state once it has shown it. */
const IGNORED_COOKIES = [REFRESH_COOKIE, PAGE_STATE_COOKIE];

/** Answers are stored where requests are counted, so that instances with common counts share them. Only an equal request can decrypt an answer. */
export const repeatedRequests =
  (counts: Pick<Counts, 'replace'>, sealOf: SealOf, random: Secrets['random']): HttpDeps['answerOnce'] =>
  async (ctx, fields, work) => {
    if (fields === null) return work();
    const cookies = [...ctx.request.cookies].filter(([name]) => !IGNORED_COOKIES.some((each) => name.endsWith(each)));
    const seal = sealOf(JSON.stringify([ctx.url, cookies, ...fields]));
    const name = ANSWERS_PREFIX + seal.name;
    // The lock is random, so that a process whose lock has expired cannot replace the lock of another process by its answer.
    const lock = random();
    const deadline = monotonicTime() + ANSWER_LIFETIME;
    while (true) {
      const entry = await counts.replace(name, '', lock, LOCK_LIFETIME);
      if (entry === null) break;
      const sealed = seal.decrypt(entry.text);
      if (sealed !== null) return replayAnswer(ctx, JSON.parse(sealed));
      // The first request takes too long, so the second one is handled as well.
      if (monotonicTime() >= deadline) return work();
      await pause(POLL_INTERVAL);
    }
    const renewal = setInterval(() => void counts.replace(name, lock, lock, LOCK_LIFETIME), RENEWAL_INTERVAL);
    const result = work();
    const answer = await serializedAnswer(ctx, result).finally(() => clearInterval(renewal));
    const sealed = answer === '' || answer.length > MAX_LENGTH ? '' : seal.encrypt(answer);
    await counts.replace(name, lock, sealed, ANSWER_LIFETIME);
    return result;
  };

const replayAnswer = (ctx: Context, answer: Answer): string => {
  ctx.set(answer.headers);
  if ('location' in answer) return answer.location;
  throw new AppError(answer.code, answer.options);
};
