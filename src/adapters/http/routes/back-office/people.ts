import { hash, timingSafeEqual } from 'node:crypto';
import type { Context } from 'koa';
import * as v from 'valibot';
import { OFFICE_LIFETIME, openOffice, operatorIn } from '../../../../application/login/office.ts';
import type { Service } from '../../../../application/service.ts';
import { AppError } from '../../../../domain/errors/app-error.ts';
import type { ErrorCode } from '../../../../domain/errors/catalog.ts';
import { actorOfPerson, isOperatorName, type Operator, SCOPES } from '../../../../domain/operator.ts';
import { PAGES } from '../../forms/flow.ts';
import { httpOnlyCookie, OFFICE_COOKIE, startCookies } from '../../request/cookies.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { headerValues } from '../../stages/arrival.ts';

/** How people log in to the pages of the back office: at a proxy, or at the service (ADR 0031). */
export type PeopleLogin = {
  /** @throws AppError for instance one of `NOT_LOGGED_IN`, or 403 if the request is for another host */
  readonly admit: (ctx: Context) => Promise<Operator>;
  /** Makes a page or a form redirect people who are not logged in to the log-in at the service; behind a proxy, changes nothing. */
  readonly redirectToLogin: (route: Route) => Route;
  /** `null`: a proxy logs people in and out. */
  readonly logOutUrl: string | null;
  readonly routes: readonly Route[];
};

/** Prevents DNS rebinding, by which an attacker lets the name of another host resolve to this service. @throws AppError 403 */
const assertHost = (ctx: Context, host: string): void => {
  const message = 'The name in the address is not that of ADMIN_URL.';
  if (URL.parse(`http://${ctx.get('Host')}`)?.hostname !== host)
    throw new AppError('SYS_HTTP_UNEXPECTED_ERROR', { status: 403, level: 'warn', reason: 'another Host', message });
};

const PROXY_SECRET_HEADER = 'tandem-proxy-secret';

type ProxySettings = {
  /** The name of the header by which the proxy tells who the person is, in lower case. */
  readonly identityHeader: string;
  /** Proves that the proxy has sent a request, and not another program. */
  readonly secret: string;
};

export const behindProxy = ({ identityHeader, secret }: ProxySettings, adminUrl: string): PeopleLogin => ({
  async admit(ctx) {
    const [sentSecret, ...others] = headerValues(ctx.req, PROXY_SECRET_HEADER);
    if (sentSecret === undefined)
      throw new AppError('AUTH_TOKEN_MISSING', {
        message: 'These pages are for people whom a proxy has authenticated.',
      });
    const refusal = (reason: string) =>
      new AppError('AUTH_TOKEN_INVALID', { reason, message: `The proxy is not set up as it has to be: ${reason}.` });
    const digestOf = (text: string) => hash('sha256', text, 'buffer');
    if (!timingSafeEqual(digestOf(secret), digestOf(sentSecret)) || others.length > 0)
      throw refusal('its secret is another one');
    assertHost(ctx, new URL(adminUrl).hostname);
    const names = headerValues(ctx.req, identityHeader);
    const name = Buffer.from(names.join(), 'latin1').toString().trim();
    // No comma: a proxy may join a header that the browser has sent with its own header.
    if (names.length !== 1 || name.includes(',') || !isOperatorName(name))
      throw refusal('it has to send one name of 1 to 64 visible characters without a comma');
    return { name: actorOfPerson(name), scopes: SCOPES };
  },
  redirectToLogin: (route) => route,
  logOutUrl: null,
  routes: [],
});

const START_LIFETIME = 10 * 60_000;
/** Characters of the path to which the log-in leads back, since a cookie has the path. */
const RETURN_PATH_MAX_LENGTH = 1_000;
const NOT_LOGGED_IN: readonly ErrorCode[] = ['AUTH_TOKEN_MISSING', 'AUTH_TOKEN_INVALID', 'DB_RECORD_NOT_FOUND'];

/** `officeLink` is the URL to which a log-in leads back with a code, like the link of an app. */
type LoginUrls = Readonly<Record<'baseUrl' | 'adminUrl' | 'officeLink', string>>;

export const withLogin = (deps: Service, { baseUrl, adminUrl, officeLink }: LoginUrls): PeopleLogin => {
  const { secrets, clock } = deps;
  const { protocol, hostname, pathname } = new URL(adminUrl);
  const basePath = pathname.replace(/\/$/, '');
  const secure = protocol === 'https:';
  // `lax`: after a redirect or a link from another site, browsers send no `Strict` cookie. Forms of other origins are refused anyhow.
  const settings = { ...(secure && { prefix: '__Host-Http-' }), path: '/', secure, sameSite: 'lax' as const };
  const cookie = httpOnlyCookie(OFFICE_COOKIE, { ...settings, maxAge: OFFICE_LIFETIME });
  const starts = startCookies({ ...settings, maxAge: START_LIFETIME }, START_LIFETIME, secrets);
  /** @returns the URL of the log-in */
  const startLogin = (ctx: Context): string => {
    const verifier = secrets.random();
    const challenge = secrets.hashOf(verifier);
    // A form leads back to its page, whose path is that of the form without the last segment.
    const page = ctx.method === 'GET' ? ctx.path + ctx.search : ctx.path.replace(/\/[^/]*$/, '');
    const back = basePath + (page.length > RETURN_PATH_MAX_LENGTH ? '/office' : page);
    starts.add(ctx, challenge, secrets.encrypt(JSON.stringify({ verifier, back }), clock.now() + START_LIFETIME));
    return `${baseUrl}${PAGES.app.path}?${new URLSearchParams({ to: `${officeLink}?code_challenge=${challenge}` })}`;
  };
  const signedInRoute = route({
    ...{ name: 'office-signed-in', tag: 'back-office', at: 'GET /office/signed-in' },
    ...{ auth: 'public', visitor: true, errorPages: true },
    summary: 'End a log-in, and lead back to the page for which it was begun',
    request: { query: v.looseObject({ code: ShortText, code_challenge: ShortText }) },
    response: { status: 303, redirects: true },
    errors: ['AUTH_CODE_INVALID', 'AUTH_TOKEN_INVALID', 'DB_RECORD_NOT_FOUND', 'DB_QUERY_FAILED'],
    handler: async ({ query: { code, code_challenge: challenge } }, ctx) => {
      assertHost(ctx, hostname);
      const entries = starts
        .pop(ctx, challenge)
        .map((text) => JSON.parse(secrets.decrypt(text, clock.now()) ?? 'null'));
      const start = entries.find((each) => each?.back !== undefined);
      const message = 'This browser has not begun the log-in, or too long ago. Open the page again.';
      if (start === undefined) throw new AppError('AUTH_CODE_INVALID', { reason: 'not begun', message });
      cookie.set(ctx, await openOffice(deps, { code, verifier: start.verifier }));
      ctx.state.location = start.back;
    },
  });
  /** Lets a form redirect to the log-in, which may have another origin. */
  const policyOf = (text = '') => text.replace("form-action 'self'", `form-action 'self' ${new URL(baseUrl).origin}`);
  return {
    async admit(ctx) {
      assertHost(ctx, hostname);
      const [proof] = cookie.read(ctx).flatMap((text) => secrets.unsign(text, 'office', clock.now()) ?? []);
      if (proof === undefined) throw new AppError('AUTH_TOKEN_MISSING', { message: 'Nobody has logged in.' });
      return operatorIn(deps, { userId: proof.userId, sessionId: proof.sessionId });
    },
    redirectToLogin({ response: { unwrapped, ...response }, ...protectedRoute }) {
      const contentSecurityPolicy = policyOf(unwrapped?.contentSecurityPolicy);
      return {
        ...protectedRoute,
        response: { ...response, ...(unwrapped && { unwrapped: { ...unwrapped, contentSecurityPolicy } }) },
        errorLocation: async (ctx, error) => {
          const isNotLoggedIn = ctx.state.operator === undefined && NOT_LOGGED_IN.includes(error.code);
          return isNotLoggedIn ? startLogin(ctx) : ((await protectedRoute.errorLocation?.(ctx, error)) ?? null);
        },
      };
    },
    logOutUrl: `${baseUrl}${PAGES['log-out'].path}`,
    routes: [signedInRoute],
  };
};

const ShortText = v.pipe(v.string(), v.maxLength(1_000));
