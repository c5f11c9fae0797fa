import type { Context } from 'koa';
import type { Service } from '../../../application/service.ts';
import type { Caller } from '../../../application/sessions/current-user.ts';
import { makeBindingCode } from '../../../application/sessions/prove-device.ts';
import { identifyVisitor } from '../../../application/sessions/rendered-pages.ts';
import { verifiedTokens } from '../../../application/sessions/tokens.ts';
import { AppError } from '../../../domain/errors/app-error.ts';
import { type DeviceAccess, eventOriginOf } from '../request/client.ts';
import { type HttpOnlyCookie, PAGE_VISITOR_LIFETIME } from '../request/cookies.ts';
import type { Strategy } from '../routing/define-route.ts';

/** The error codes of a visitor who is not logged in, or has not proven the key of the session. Where no log-in is required, they are no errors. */
const UNIDENTIFIED = ['AUTH_FAILED', 'AUTH_DEVICE_UNPROVEN', 'DB_RECORD_NOT_FOUND'];

type VisitorCookies = Pick<DeviceAccess, 'cookie' | 'readPresentedDevice'> & {
  /** The cookie that proves for ten minutes that the browser has the key of the session. */
  readonly proof: HttpOnlyCookie;
};

/** Identifies visitors of the service's own pages by the refresh cookie, which it does not renew (ADR 0024). */
export const visitors = (deps: Service, { cookie, readPresentedDevice, proof }: VisitorCookies) => {
  const { secrets, clock, tokens } = deps;
  const identify = identifyVisitor(deps);
  const proofsOf = (ctx: Context) =>
    proof.read(ctx).flatMap((text) => secrets.unsign(text, 'page-visitor', clock.now()) ?? []);
  const isUnidentified = (error: unknown): error is AppError =>
    error instanceof AppError && UNIDENTIFIED.includes(error.code);
  /** While the database is down, a page that needs no visitor takes everybody for a stranger. A form does not, since its result may depend on the visitor. */
  const isPageWithoutDatabase = ({ state: { route } }: Context, error: unknown) =>
    route?.form === undefined && error instanceof AppError && error.code === 'DB_QUERY_FAILED';
  const tokenOf = async (ctx: Context, auth: Strategy): Promise<string | undefined> => {
    const provenSessions = proofsOf(ctx).map(({ sessionId }) => sessionId);
    try {
      return await identify(cookie.read(ctx), {
        ...{ presented: readPresentedDevice(ctx, undefined), provenSessions, origin: eventOriginOf(ctx) },
      });
    } catch (error) {
      if (auth === 'optional' && (isUnidentified(error) || isPageWithoutDatabase(ctx, error))) return undefined;
      if (isUnidentified(error) && error.code === 'AUTH_FAILED') {
        const [token] = await verifiedTokens(deps, cookie.read(ctx));
        ctx.state.endedSession = token?.sessionId;
      }
      throw error;
    }
  };
  return {
    tokenOf,
    /** Whether the request has a refresh cookie, valid or not. */
    hasRefreshCookie: (ctx: Context): boolean => cookie.read(ctx).length > 0,
    /** Whether the visitor has a session, with or without a proof of its key. */
    isLoggedIn: async (ctx: Context): Promise<boolean> => {
      try {
        return (await tokenOf(ctx, 'required')) !== undefined;
      } catch (error) {
        if (!isUnidentified(error)) throw error;
        return error.code === 'AUTH_DEVICE_UNPROVEN';
      }
    },
    sessionOfToken: async (accessToken: string): Promise<Caller | undefined> => {
      const verified = await tokens.verifyAccess(accessToken, clock.now());
      return verified.ok ? { userId: verified.token.claims.sub, sessionId: verified.token.sessionId } : undefined;
    },
    /** A code by which an application binds the session to its own key. */
    bindingCodeOf: ({ userId, sessionId: id }: Caller): string => makeBindingCode(deps, { id, userId }),
    /** Sets the cookie `proof` for a session, after a new proof or until an earlier one of the caller's session expires. */
    rememberProof: (ctx: Context, { userId, sessionId }: Caller, isNew: boolean): void => {
      const earlier = proofsOf(ctx).find((each) => each.sessionId === ctx.request.caller?.sessionId);
      const expiresAt = isNew ? clock.now() + PAGE_VISITOR_LIFETIME : earlier?.expiresAt;
      if (expiresAt === undefined) return;
      proof.set(ctx, secrets.sign({ purpose: 'page-visitor', userId, sessionId, value: '', expiresAt }));
    },
  };
};

export type Visitors = ReturnType<typeof visitors>;
