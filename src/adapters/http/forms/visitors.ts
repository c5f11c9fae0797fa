import type { Context } from 'koa';
import type { Service } from '../../../application/service.ts';
import type { Caller } from '../../../application/sessions/current-user.ts';
import { makeBindingCode } from '../../../application/sessions/prove-device.ts';
import { identifyVisitor } from '../../../application/sessions/rendered-pages.ts';
import { verifiedTokens } from '../../../application/sessions/tokens.ts';
import { AppError } from '../../../domain/errors/app-error.ts';
import { eventOriginOf, type ReadPresentedDevice } from '../request/client.ts';
import { type HttpOnlyCookie, PAGE_VISITOR_LIFETIME, type SessionCookies } from '../request/cookies.ts';
import type { Strategy } from '../routing/define-route.ts';

/** Error codes of visitors who are not logged in. A page for strangers takes them for no errors. */
const NOT_LOGGED_IN = ['AUTH_FAILED', 'AUTH_DEVICE_UNPROVEN', 'DB_RECORD_NOT_FOUND'];

type VisitorCookies = {
  readonly cookie: SessionCookies;
  readonly readPresentedDevice: ReadPresentedDevice;
  /** The cookie that proves for ten minutes that a page of the service has the key of the session. */
  readonly proof: HttpOnlyCookie;
};

/** Identifies visitors of the service's own pages by the refresh cookie, which it does not renew (ADR 0024). */
export const visitors = (deps: Service, { cookie, readPresentedDevice, proof }: VisitorCookies) => {
  const { secrets, clock, tokens } = deps;
  const identify = identifyVisitor(deps);
  const proofsOf = (ctx: Context) =>
    proof.read(ctx).flatMap((text) => secrets.unsign(text, 'page-visitor', clock.now()) ?? []);
  const isNotLoggedIn = (error: unknown): error is AppError =>
    error instanceof AppError && NOT_LOGGED_IN.includes(error.code);
  /** A page that needs no visitor works while the database is down. A form does not, since its result may depend on the visitor. */
  const isPageWithoutDatabase = ({ state: { route } }: Context, error: unknown) =>
    route?.form === undefined && error instanceof AppError && error.code === 'DB_QUERY_FAILED';
  /** @throws AppError AUTH_FAILED, AUTH_DEVICE_UNPROVEN unless a visitor is optional; DB_QUERY_FAILED */
  const tokenOf = async (ctx: Context, auth: Strategy): Promise<string | undefined> => {
    const provenSessions = proofsOf(ctx).map(({ sessionId }) => sessionId);
    try {
      return await identify(cookie.read(ctx), {
        ...{ presented: readPresentedDevice(ctx, undefined), provenSessions, origin: eventOriginOf(ctx) },
      });
    } catch (error) {
      if (auth === 'optional' && (isNotLoggedIn(error) || isPageWithoutDatabase(ctx, error))) return undefined;
      if (isNotLoggedIn(error) && error.code === 'AUTH_FAILED') {
        const [token] = await verifiedTokens(deps, cookie.read(ctx));
        ctx.state.endedSession = token?.sessionId;
      }
      throw error;
    }
  };
  return {
    tokenOf,
    hasRefreshCookie: (ctx: Context): boolean => cookie.read(ctx).length > 0,
    /** Whether the visitor has a session, with or without a proof of its key. */
    isLoggedIn: async (ctx: Context): Promise<boolean> => {
      try {
        return (await tokenOf(ctx, 'required')) !== undefined;
      } catch (error) {
        if (!isNotLoggedIn(error)) throw error;
        return error.code === 'AUTH_DEVICE_UNPROVEN';
      }
    },
    sessionOfToken: async (accessToken: string): Promise<Caller | undefined> => {
      const verified = await tokens.verifyAccess(accessToken, clock.now());
      return verified.ok ? { userId: verified.token.claims.sub, sessionId: verified.token.sessionId } : undefined;
    },
    bindingCodeOf: ({ userId, sessionId: id }: Caller): string => makeBindingCode(deps, { id, userId }),
    /** @param isNew whether this request has a proof. If not, an earlier proof of the caller's session counts for the session that replaces it. */
    rememberProof: (ctx: Context, { userId, sessionId }: Caller, isNew: boolean): void => {
      const earlier = proofsOf(ctx).find((each) => each.sessionId === ctx.request.caller?.sessionId);
      const expiresAt = isNew ? clock.now() + PAGE_VISITOR_LIFETIME : earlier?.expiresAt;
      if (expiresAt === undefined) return;
      proof.set(ctx, secrets.sign({ purpose: 'page-visitor', userId, sessionId, value: '', expiresAt }));
    },
  };
};
