import type { Context } from 'koa';
import type { Service } from '../../../application/service.ts';
import type { AppError } from '../../../domain/errors/app-error.ts';
import { type HttpOnlyCookie, PAGE_STATE_LIFETIME } from '../request/cookies.ts';
import type { PageName } from './flow.ts';
import type { FormResult } from './page-facts.ts';

/** The state of a page, for instance the result of a form. Its cookie is encrypted: other hosts of the domain can set a cookie, but none that decrypts. */
export type PageState = FormResult & { readonly page: PageName };

/** What a page shows of an error, without the problems of fields. */
export const shownError = ({ code, status, retryAfter, hookMessage: message }: AppError) => ({
  ...{ code, status },
  ...(retryAfter !== undefined && { retryAfter }),
  ...(message !== undefined && { message }),
});

/** Characters. Browsers refuse a cookie if its name and value have more than 4,096. */
const MAX_LENGTH = 4_000;

export const pageStates = ({ secrets, clock }: Pick<Service, 'secrets' | 'clock'>, cookie: HttpOnlyCookie) => ({
  /** Clears the state: after a log-in, the cookie must not keep what the user has typed. */
  clear: (ctx: Context) => cookie.read(ctx).length > 0 && cookie.clear(ctx),
  set: (ctx: Context, state: PageState): void => {
    const encrypt = (plain: PageState) => secrets.encrypt(JSON.stringify(plain), clock.now() + PAGE_STATE_LIFETIME);
    const sealed = encrypt(state);
    // If the state is too long, the page still shows the error, but not what the user typed.
    cookie.set(ctx, sealed.length <= MAX_LENGTH ? sealed : encrypt({ ...state, typed: {} }));
  },
  /** Returns the state of a page, and clears its cookie, so that the page does not show it again when it is loaded again. */
  pop: (ctx: Context, page: PageName): PageState | null => {
    const texts = cookie.read(ctx);
    const states = texts.flatMap((text): PageState[] => {
      const plain = secrets.decrypt(text, clock.now());
      return plain === null ? [] : [JSON.parse(plain)];
    });
    const isOwn = ({ session }: PageState) => session === undefined || session === ctx.request.caller?.sessionId;
    const ownState = states.find((state) => state.page === page && isOwn(state)) ?? null;
    if (ownState !== null) cookie.clear(ctx);
    return ownState;
  },
});

export type PageStates = ReturnType<typeof pageStates>;
