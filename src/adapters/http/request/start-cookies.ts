import type { Context } from 'koa';
import type { RandomSecrets } from '../../../application/ports/secrets.ts';
import { AppError } from '../../../domain/errors/app-error.ts';
import { httpOnlyCookie, START_COOKIE } from './cookies.ts';
import type { CookieSettings } from './settings.ts';

/** So many sign-ins may a browser have begun at once: in other tabs, or before the user went back. */
const AT_ONCE = 5;
/** Characters of all of them: more could make requests too long for the service. */
const MAX_LENGTH = 6_000;
/** Characters. Browsers drop a cookie of more than 4,096 with its name. */
const MAX_LENGTH_OF_ONE = 4_000;
const TOO_LONG = { field: 'body', message: 'must have at most 2500 characters', code: 'too_long' } as const;

/** In place of a state: what is linked by the next log-in. */
export const KEPT_STATE = 'kept';

/**
 * The cookies of sign-ins that are under way: one for each, so that two tabs do not end each other's. With the attributes of the refresh cookie, but
 * the browser has to send them when it comes back from the provider, which is another site.
 */
export const startCookies = (settings: CookieSettings, maxAge: number, { hashOf }: Pick<RandomSecrets, 'hashOf'>) => {
  const sameSite = settings.sameSite === 'strict' ? 'lax' : settings.sameSite;
  const cookieNamed = (name: string) => httpOnlyCookie(name, { ...settings, sameSite, maxAge });
  const cookieOf = (state: string) => cookieNamed(START_COOKIE + hashOf(state).slice(0, 22));
  const { prefix = '' } = settings;
  return {
    /** @throws AppError CLIENT_PARAMS_VALIDATION_FAILED when the browser could not keep it */
    add: (ctx: Context, state: string, sealed: string): void => {
      if (sealed.length > MAX_LENGTH_OF_ONE)
        throw new AppError('CLIENT_PARAMS_VALIDATION_FAILED', { details: [TOO_LONG] });
      // Browsers send the oldest ones first (RFC 6265 §5.4).
      const earlier = [...ctx.request.cookies].filter(([name]) => name.startsWith(prefix + START_COOKIE)).reverse();
      let length = sealed.length;
      for (const [at, [name, texts]] of earlier.entries()) {
        length += texts.join('').length;
        if (at >= AT_ONCE - 1 || length > MAX_LENGTH) cookieNamed(name.slice(prefix.length)).clear(ctx);
      }
      cookieOf(state).set(ctx, sealed);
    },
    /** What the browser keeps for a state, if anything. It forgets it, whatever comes of it. */
    take: (ctx: Context, state: string): readonly string[] => {
      const cookie = cookieOf(state);
      const texts = cookie.read(ctx);
      if (texts.length > 0) cookie.clear(ctx);
      return texts;
    },
  };
};

export type StartCookies = ReturnType<typeof startCookies>;
