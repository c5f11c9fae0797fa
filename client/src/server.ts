import { AuthError } from './auth-error.ts';
import { sleep } from './host.ts';
import { isOwnForm, keptForm } from './kept-form.ts';
import { baseOf } from './response.ts';
import { userPage } from './there-and-back.ts';
import type { ServerAuth, ServerAuthOptions } from './types.ts';
import { visitors } from './visitors.ts';

export { followEndedSessions } from './ended-sessions.ts';

/** How often a navigation is sent to the service, and by how many milliseconds it waits longer each time, since another navigation may get the cookie. */
const [MAX_TRIES, PAUSE] = [4, 300];
/**
 * The mark at the end of the query with which a navigation comes back: how often the navigation was sent to the service, and when (epoch seconds). The
 * number counts for a minute. The log-in page of the service may add the mark of the browser client after it.
 */
const MARK = /[?&]tandem-continued=(\d)\.(\d{1,12})(?=(?:&tandem=logged-(?:in|out))?$)/;

/** Shown to the developer if visitors who are logged in come back from the service without a token. */
const ADVICE =
  'Set ACCESS_COOKIE=true at the service. Its BASE_URL, JWT_ISSUER and JWT_AUDIENCE have to be baseUrl, issuer and audience here. If this host is not that of BASE_URL, set ACCESS_COOKIE_DOMAIN there and cookieName here.';

const triesOf = (mark: RegExpExecArray | null, now: number): number =>
  mark && Math.abs(now - Number(mark[2])) < 60 ? Number(mark[1]) : 0;

const isDocument = ({ method, headers }: Request): boolean =>
  /^(GET|HEAD)$/.test(method) &&
  headers.get('Sec-Fetch-Mode') === 'navigate' &&
  headers.get('Sec-Fetch-Dest') === 'document';

const answer = (status: number, text: string | null, headers: Record<string, string> = {}): Response =>
  new Response(text, { status, headers: { 'Content-Type': 'text/plain', 'Cache-Control': 'no-store', ...headers } });
const seeOther = (Location: string): Response => answer(303, null, { Location });
const withQuery = (url: string, member: string): string => url + (url.includes('?') ? '&' : '?') + member;

export const createServerAuth = (options: ServerAuthOptions): ServerAuth => {
  const base = baseOf(options.baseUrl);
  const publicOrigin = options.origin && new URL(options.origin).origin;
  const targets = [base, ...(options.origins ?? [])].map((url) => new URL(url).origin);
  const visitorOf = visitors(base, options);

  /** Sends the browser to the service, which gives it an access token and sends it back, or leads to the log-in. @param why the reason, for the developer. */
  const sendToService = async (page: string, mark: RegExpExecArray | null, why: string): Promise<Response> => {
    const now = Math.floor(Date.now() / 1000);
    const tries = triesOf(mark, now);
    if (tries >= MAX_TRIES) return answer(500, `${why} ${ADVICE}`);
    await sleep(tries * PAUSE);
    const to = withQuery(page, `tandem-continued=${tries + 1}.${now}`);
    return seeOther(`${base}/auth/continue?to=${encodeURIComponent(to)}`);
  };

  /** The URL of a request as the browser knows it. A path alone would name another host if it begins with two slashes. */
  const addressOf = ({ url }: Request): string => {
    const { origin, pathname, search } = new URL(url);
    return (publicOrigin ?? origin) + pathname + search.replace(MARK, '').replace(/^&/, '?');
  };

  /** Answers a form that came without a token by a page that renews the token and sends the form again: the first time by itself, then by a button. */
  const answerForm = async (request: Request): Promise<Response> => {
    const [page, now] = [addressOf(request), Math.floor(Date.now() / 1000)];
    const from = request.headers.get('Referer') ?? '';
    const { html, headers } = await keptForm(request, {
      base,
      action: withQuery(page, `tandem-continued=1.${now}`),
      to: from.startsWith(`${new URL(page).origin}/`) ? from : page,
      byScript: !triesOf(MARK.exec(new URL(request.url).search), now),
    });
    return answer(401, html, { ...headers, 'WWW-Authenticate': 'Bearer' });
  };

  return {
    linkTo: (page, request, options) => userPage(base, page, options, addressOf(request)),
    getUser: async (request) => (await visitorOf(request)).user,
    requireUser: async (request, { loginPage } = {}) => {
      const visitor = await visitorOf(request).catch((error: AuthError) => error);
      if (visitor instanceof Error && !visitor.retryable) throw visitor;
      if (visitor instanceof Error)
        return answer(503, 'The service does not answer.', { 'Retry-After': `${visitor.retryAfter ?? 5}` });
      if (!visitor.user && isOwnForm(request)) return answerForm(request);
      if (!isDocument(request))
        return (
          visitor.user ?? answer(401, 'Load the page again, or log in.', { 'WWW-Authenticate': visitor.challenge })
        );
      const mark = MARK.exec(new URL(request.url).search);
      const page = addressOf(request);
      const isFresh = Date.now() < visitor.due;
      // A visitor who comes back with the same token is not sent again.
      if (visitor.user && (isFresh || mark)) return isFresh && mark ? seeOther(page) : visitor.user;
      if (visitor.user || !loginPage || !visitor.isNobody) return sendToService(page, mark, visitor.why);
      return seeOther(withQuery(new URL(loginPage, page).href, `to=${encodeURIComponent(page)}`));
    },
    signedInFetch: async (request, input, init) => {
      const outgoing = new Request(input, { ...init, redirect: init?.redirect === 'manual' ? 'manual' : 'error' });
      const { origin } = new URL(outgoing.url);
      if (!targets.includes(origin)) throw new AuthError('CLIENT_TARGET_REFUSED', `${origin} is not in origins.`);
      const visitor = await visitorOf(request);
      if (visitor.user) outgoing.headers.set('Authorization', `Bearer ${visitor.token}`);
      return (options.fetch ?? fetch)(outgoing);
    },
  };
};
