import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from 'koa';
import type { Secrets } from '../../../application/ports/secrets.ts';
import { AppError, type AppErrorOptions } from '../../../domain/errors/app-error.ts';
import type { ErrorCode } from '../../../domain/errors/catalog.ts';
import { ANSWERS, type Counts } from '../../limits/counts.ts';
import { toAppError } from '../errors/exceptions.ts';
import type { HttpDeps } from '../http-deps.ts';
import { PAGE_STATE_COOKIE, REFRESH_COOKIE } from '../request/cookies.ts';

/** Milliseconds in which a request that is sent again is not another attempt. */
const REMEMBERED = 10_000;
/** Milliseconds without a sign of it after which the process of the first request counts as gone; between two signs; between two looks for its answer. */
const SILENCE = 5_000;
const SIGN = 1_000;
const LOOK = 50;
/** Characters, before they are encrypted. Two cookies as long as browsers keep them, the others and a location have some 11,000 at most. */
const MAX_LENGTH = 12_000;

/** A name for what is kept about a text, and its encryption, both derived from that text. */
type SealedBy = (text: string) => {
  readonly name: string;
  readonly encrypt: (plain: string) => string;
  readonly decrypt: (sealed: string) => string | null;
};

/** Where the browser goes, or an error, with the headers that the request has set besides. */
type Answer = { readonly headers: Record<string, string | string[]> } & (
  | { readonly location: string }
  | { readonly code: ErrorCode; readonly options: AppErrorOptions }
);

/** What is set also with an error: the cookie of a pending log-in. */
const HANDED_ON = ['Set-Cookie', 'Secure-Session-Registration'];

/** @returns it as a text; empty after a fault of the service, which may be over when the request is sent again. */
const answerOf = async (ctx: Context, work: Promise<string>): Promise<string> => {
  const result = await work.then(
    (location) => ({ location }),
    (exception: unknown) => {
      const { code, status, level, message, hookMessage, details, reason, retryAfter, stepUp } = toAppError(exception);
      return { code, options: { status, level, message, hookMessage, details, reason, retryAfter, stepUp } };
    },
  );
  if ('code' in result && result.options.status >= 500) return '';
  const headers = Object.fromEntries(HANDED_ON.map((name) => [name, ctx.res.getHeader(name)]));
  return JSON.stringify({ ...result, headers });
};

/** Cookies that do not tell one attempt from another: the session stays the same while its token is renewed, and what a page says is for one view. */
const UNREAD = [REFRESH_COOKIE, PAGE_STATE_COOKIE];

/** Instances and workers that count together remember together. What they keep can be read with the request alone. */
export const repeatedRequests =
  (counts: Pick<Counts, 'replace'>, sealedBy: SealedBy, random: Secrets['random']): HttpDeps['answerOnce'] =>
  async (ctx, fields, work) => {
    if (fields === null) return work();
    const cookies = [...ctx.request.cookies].filter(([name]) => !UNREAD.some((each) => name.endsWith(each)));
    const seal = sealedBy(JSON.stringify([ctx.url, cookies, ...fields]));
    const name = ANSWERS + seal.name;
    // Another one for each try: who was silent for too long must not answer for whoever came after.
    const mark = random();
    for (let looks = 0; ; looks += 1) {
      const other = await counts.replace(name, '', mark, SILENCE);
      if (other === null) break;
      const sealed = seal.decrypt(other.text);
      if (sealed !== null) return answerAgain(ctx, JSON.parse(sealed));
      // A part of the service does not answer: many copies must not wait for one another.
      if (looks * LOOK >= REMEMBERED) return work();
      await pause(LOOK);
    }
    const signs = setInterval(() => void counts.replace(name, mark, mark, SILENCE), SIGN);
    const running = work();
    const answer = await answerOf(ctx, running).finally(() => clearInterval(signs));
    const sealed = answer === '' || answer.length > MAX_LENGTH ? '' : seal.encrypt(answer);
    await counts.replace(name, mark, sealed, REMEMBERED);
    return running;
  };

const answerAgain = (ctx: Context, answer: Answer): string => {
  ctx.set(answer.headers);
  if ('location' in answer) return answer.location;
  throw new AppError(answer.code, answer.options);
};
