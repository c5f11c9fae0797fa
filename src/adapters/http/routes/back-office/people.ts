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

/** How people at the pages of the back office log in: at a proxy, or at the service. ADR 0031. */
export type People = {
  /** @throws AppError AUTH_TOKEN_MISSING, AUTH_TOKEN_INVALID, DB_RECORD_NOT_FOUND if nobody is logged in, or 403 */
  readonly admit: (ctx: Context) => Promise<Operator>;
  /** Makes a page or a form redirect to the log-in. */
  readonly redirectToLogin: (of: Route) => Route;
  /** `null`: the proxy logs people out. */
  readonly logOutUrl: string | null;
  readonly routes: readonly Route[];
};

/** Prevents DNS rebinding, by which a page of another host has made its name point here. @throws AppError 403 */
const assertHost = (ctx: Context, host: string): void => {
  const message = 'The name in the address is not that of ADMIN_URL.';
  if (URL.parse(`http://${ctx.get('Host')}`)?.hostname !== host)
    throw new AppError('SYS_HTTP_UNEXPECTED_ERROR', { status: 403, level: 'warn', reason: 'another Host', message });
};

const PROXY_SECRET_HEADER = 'tandem-proxy-secret';

type Proxy = {
  /** The header with the name of a person, in lower case. */
  readonly identityHeader: string;
  /** Proves that a request is from the proxy, and not from another program on this machine. */
  readonly secret: string;
};

export const behindProxy = ({ identityHeader, secret: known }: Proxy, adminUrl: string): People => ({
  async admit(ctx) {
    const [secret, ...others] = headerValues(ctx.req, PROXY_SECRET_HEADER);
    if (secret === undefined)
      throw new AppError('AUTH_TOKEN_MISSING', {
        message: 'These pages are for people whom a proxy has authenticated.',
      });
    const refused = (reason: string) =>
      new AppError('AUTH_TOKEN_INVALID', { reason, message: `The proxy is not set up as it has to be: ${reason}.` });
    const digestOf = (text: string) => hash('sha256', text, 'buffer');
    if (!timingSafeEqual(digestOf(known), digestOf(secret)) || others.length > 0)
      throw refused('its secret is another one');
    assertHost(ctx, new URL(adminUrl).hostname);
    const names = headerValues(ctx.req, identityHeader);
    const name = Buffer.from(names.join(), 'latin1').toString().trim();
    // A proxy may join two headers, of which a browser may have sent the first.
    if (names.length !== 1 || name.includes(',') || !isOperatorName(name))
      throw refused('it has to send one name of 1 to 64 visible characters without a comma');
    return { name: actorOfPerson(name), scopes: SCOPES };
  },
  redirectToLogin: (of) => of,
  logOutUrl: null,
  routes: [],
});

const START_LIFETIME = 10 * 60_000;
/** The address that the log-in leads back to must fit into a cookie. */
const BACK_MAX_LENGTH = 1_000;
const NOBODY: readonly ErrorCode[] = ['AUTH_TOKEN_MISSING', 'AUTH_TOKEN_INVALID', 'DB_RECORD_NOT_FOUND'];

/** `officeLink` is where a log-in leads back, like the link of an app. */
type Urls = Readonly<Record<'baseUrl' | 'adminUrl' | 'officeLink', string>>;

export const withLogin = (deps: Service, { baseUrl, adminUrl, officeLink }: Urls): People => {
  const { secrets, clock } = deps;
  const { protocol, hostname, pathname } = new URL(adminUrl);
  const below = pathname.replace(/\/$/, '');
  const secure = protocol === 'https:';
  // Browsers would not send a Strict cookie after a redirect from the service, or a link to a page. Forms of other origins are refused.
  const settings = { ...(secure && { prefix: '__Host-Http-' }), path: '/', secure, sameSite: 'lax' as const };
  const cookie = httpOnlyCookie(OFFICE_COOKIE, { ...settings, maxAge: OFFICE_LIFETIME });
  const starts = startCookies({ ...settings, maxAge: START_LIFETIME }, START_LIFETIME, secrets);
  /** @returns the address of the log-in. */
  const begin = (ctx: Context): string => {
    const verifier = secrets.random();
    const challenge = secrets.hashOf(verifier);
    // The page of a form is one level higher.
    const page = ctx.method === 'GET' ? ctx.path + ctx.search : ctx.path.replace(/\/[^/]*$/, '');
    const back = below + (page.length > BACK_MAX_LENGTH ? '/office' : page);
    starts.add(ctx, challenge, secrets.encrypt(JSON.stringify({ verifier, back }), clock.now() + START_LIFETIME));
    return `${baseUrl}${PAGES.app.path}?${new URLSearchParams({ to: `${officeLink}?code_challenge=${challenge}` })}`;
  };
  const signedIn = route({
    ...{ name: 'office-signed-in', tag: 'back-office', at: 'GET /office/signed-in' },
    ...{ auth: 'public', visitor: true, errorPages: true },
    summary: 'End a log-in, and lead back to the page for which it was begun',
    request: { query: v.looseObject({ code: Sealed, code_challenge: Sealed }) },
    response: { status: 303, redirects: true },
    errors: ['AUTH_CODE_INVALID', 'AUTH_TOKEN_INVALID', 'DB_RECORD_NOT_FOUND', 'DB_QUERY_FAILED'],
    handler: async ({ query: { code, code_challenge: challenge } }, ctx) => {
      assertHost(ctx, hostname);
      const kept = starts.pop(ctx, challenge).map((text) => JSON.parse(secrets.decrypt(text, clock.now()) ?? 'null'));
      const begun = kept.find((each) => each?.back !== undefined);
      const message = 'This browser has not begun the log-in, or too long ago. Open the page again.';
      if (begun === undefined) throw new AppError('AUTH_CODE_INVALID', { reason: 'not begun', message });
      cookie.set(ctx, await openOffice(deps, { code, verifier: begun.verifier }));
      ctx.state.location = begun.back;
    },
  });
  /** A form may redirect to the log-in, which has another origin. */
  const policyOf = (text = '') => text.replace("form-action 'self'", `form-action 'self' ${new URL(baseUrl).origin}`);
  return {
    async admit(ctx) {
      assertHost(ctx, hostname);
      const [shown] = cookie.read(ctx).flatMap((text) => secrets.unsign(text, 'office', clock.now()) ?? []);
      if (shown === undefined) throw new AppError('AUTH_TOKEN_MISSING', { message: 'Nobody has logged in.' });
      return operatorIn(deps, { userId: shown.userId, sessionId: shown.sessionId });
    },
    redirectToLogin({ response: { unwrapped, ...response }, ...of }) {
      const contentSecurityPolicy = policyOf(unwrapped?.contentSecurityPolicy);
      return {
        ...of,
        response: { ...response, ...(unwrapped && { unwrapped: { ...unwrapped, contentSecurityPolicy } }) },
        errorLocation: async (ctx, error) => {
          const isNobody = ctx.state.operator === undefined && NOBODY.includes(error.code);
          return isNobody ? begin(ctx) : ((await of.errorLocation?.(ctx, error)) ?? null);
        },
      };
    },
    logOutUrl: `${baseUrl}${PAGES['log-out'].path}`,
    routes: [signedIn],
  };
};

const Sealed = v.pipe(v.string(), v.maxLength(1_000));
