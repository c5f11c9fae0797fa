import type { Context } from 'koa';
import type { Secrets } from '../../../application/ports/secrets.ts';
import type { AppError } from '../../../domain/errors/app-error.ts';
import { type HttpOnlyCookie, PAGE_STATE_LIFETIME } from '../request/cookies.ts';
import type { PageName } from './flow.ts';
import type { FormResult } from './page-facts.ts';

/** What a form hands to a page, in an encrypted cookie: other hosts of the domain can set cookies, but cannot make this one. */
export type PageState = FormResult & { readonly page: PageName };

/** What a page shows of an error, without its fields. */
export const shownError = ({ code, status, retryAfter, hookMessage: message }: AppError) => ({
  ...{ code, status },
  ...(retryAfter !== undefined && { retryAfter }),
  ...(message !== undefined && { message }),
});

/** Characters. Browsers drop a cookie of more than 4,096 with its name. */
const MAX_LENGTH = 4_000;

type Deps = {
  readonly secrets: Pick<Secrets, 'encrypt' | 'decrypt'>;
  readonly clock: { now(): number };
  readonly cookie: HttpOnlyCookie;
};

export const pageStates = ({ secrets, clock, cookie }: Deps) => ({
  /** What was typed at a log-in must not stay when it is over. */
  clear: (ctx: Context) => cookie.read(ctx).length > 0 && cookie.clear(ctx),
  set: (ctx: Context, state: PageState): void => {
    const sealed = (some: PageState) => secrets.encrypt(JSON.stringify(some), clock.now() + PAGE_STATE_LIFETIME);
    const text = sealed(state);
    // If it is too long, the form is empty, but the page still shows the error.
    cookie.set(ctx, text.length <= MAX_LENGTH ? text : sealed({ ...state, typed: {} }));
  },
  /** Returns the state of a page, and clears it: a page that is loaded again does not show it. */
  take: (ctx: Context, page: PageName): PageState | null => {
    const texts = cookie.read(ctx);
    const states = texts.flatMap((text): PageState[] => {
      const plain = secrets.decrypt(text, clock.now());
      return plain === null ? [] : [JSON.parse(plain)];
    });
    const isOwn = ({ session }: PageState) => session === undefined || session === ctx.request.caller?.sessionId;
    const own = states.find((state) => state.page === page && isOwn(state)) ?? null;
    if (own !== null) cookie.clear(ctx);
    return own;
  },
});

export type PageStates = ReturnType<typeof pageStates>;
