import type { Context } from 'koa';
import type { Service } from '../../../application/service.ts';
import { authenticate, type Caller } from '../../../application/sessions/current-user.ts';
import { makeBindingCode } from '../../../application/sessions/prove-device.ts';
import { identifyVisitor } from '../../../application/sessions/rendered-pages.ts';
import { verifiedTokens } from '../../../application/sessions/tokens.ts';
import { AppError } from '../../../domain/errors/app-error.ts';
import { eventOriginOf, type ReadPresentedDevice } from '../request/client.ts';
import { type HttpOnlyCookie, PAGE_VISITOR_LIFETIME, type SessionCookies } from '../request/cookies.ts';
import type { Strategy } from '../routing/define-route.ts';

/** Errors that mean that nobody is logged in. Where a visitor is optional, they are no errors. */
const NOBODY = ['AUTH_FAILED', 'AUTH_DEVICE_UNPROVEN', 'DB_RECORD_NOT_FOUND'];

type Cookies = {
  readonly cookie: SessionCookies;
  readonly readPresentedDevice: ReadPresentedDevice;
  /** Proves for ten minutes that a page has the key of the session. */
  readonly proof: HttpOnlyCookie;
};

/** Visitors of the service's own pages. The refresh cookie identifies them, and is not renewed. ADR 0024. */
export const visitors = (deps: Service, { cookie, readPresentedDevice, proof }: Cookies) => {
  const { secrets, clock } = deps;
  const identify = identifyVisitor(deps);
  const verify = authenticate(deps);
  const proofsOf = (ctx: Context) =>
    proof.read(ctx).flatMap((text) => secrets.unsign(text, 'page-visitor', clock.now()) ?? []);
  const isNobody = (error: unknown): error is AppError => error instanceof AppError && NOBODY.includes(error.code);
  /** A page that needs no visitor is shown without the database, too. The result of a form may depend on who sends it. */
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
      if (auth === 'optional' && (isNobody(error) || isPageWithoutDatabase(ctx, error))) return undefined;
      if (isNobody(error) && error.code === 'AUTH_FAILED') {
        const [token] = await verifiedTokens(deps, cookie.read(ctx));
        ctx.state.endedSession = token?.sessionId;
      }
      throw error;
    }
  };
  return {
    tokenOf,
    hasCookie: (ctx: Context): boolean => cookie.read(ctx).length > 0,
    /** Whether somebody is logged in, perhaps with a key that no page has proven yet. */
    isLoggedIn: async (ctx: Context): Promise<boolean> => {
      try {
        return (await tokenOf(ctx, 'required')) !== undefined;
      } catch (error) {
        if (!isNobody(error)) throw error;
        return error.code === 'AUTH_DEVICE_UNPROVEN';
      }
    },
    openedBy: async (accessToken: string): Promise<Caller | undefined> => {
      const verified = await verify(accessToken);
      return verified.ok ? { userId: verified.token.claims.sub, sessionId: verified.token.sessionId } : undefined;
    },
    bindingCodeOf: ({ userId, sessionId: id }: Caller): string => makeBindingCode(deps, { id, userId }),
    /** @param isNew whether this request has a proof. If not, an earlier one also counts for the session that replaces the former one. */
    rememberProof: (ctx: Context, { userId, sessionId }: Caller, isNew: boolean): void => {
      const earlier = proofsOf(ctx).find((each) => each.sessionId === ctx.request.caller?.sessionId);
      const expiresAt = isNew ? clock.now() + PAGE_VISITOR_LIFETIME : earlier?.expiresAt;
      if (expiresAt === undefined) return;
      proof.set(ctx, secrets.sign({ purpose: 'page-visitor', userId, sessionId, value: '', expiresAt }));
    },
  };
};
