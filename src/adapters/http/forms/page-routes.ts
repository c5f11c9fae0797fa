import type { Context } from 'koa';
import * as v from 'valibot';
import { FACTOR_CHANGE } from '../../../domain/assurance.ts';
import type { AppError } from '../../../domain/errors/app-error.ts';
import type { ErrorCode } from '../../../domain/errors/catalog.ts';
import type { RegistrationPolicy } from '../../../domain/registration.ts';
import { Id } from '../../json/fields.ts';
import { pageResponse } from '../documents.ts';
import { type HandlerInput, NO_STORE, type Route, route } from '../routing/define-route.ts';
import { readQuery } from '../stages/input-validation.ts';
import { type Form, PAGES, type Page, type PageName } from './flow.ts';
import { type FormDeps, formRoute } from './form-routes.ts';
import { detourFor, type Locations, locations, MARK, MARKS, VISITOR_ERRORS, withParameter } from './locations.ts';
import type { PageFacts } from './page-facts.ts';
import type { PageState } from './page-state.ts';
import type { TargetSettings } from './targets.ts';

export type PageContent = Pick<PageFacts, 'payloads' | 'isVisitor'> & {
  readonly name: PageName;
  readonly state: PageState | null;
  /** The query parameter `to`: the target. */
  readonly to: string | undefined;
  /** The URL that leads to the target, by default the account, with the mark `logged-in`. */
  readonly target: string;
  /** Where the visitor may go if the page `prove` does not have the key: to the application, which may have the key, or to the log-in. */
  readonly fallbackUrls?: readonly string[];
};

type PagesDeps = TargetSettings &
  FormDeps & {
    /** The routes to which the forms submit, and whose payloads the pages need. */
    readonly api: readonly Route[];
    readonly contentSecurityPolicy: string;
    readonly isEnabled: (page: Page) => boolean;
    readonly registration: RegistrationPolicy['mode'];
    readonly render: (ctx: Context, content: PageContent) => Promise<string>;
  };

/** Shown after a failure if no cookie has the error, for instance because the browser refuses cookies. */
const REASON_UNSEEN: PageState['error'] = { code: 'reason-unseen', status: 400, fields: [] };

export const userPageRoutes = (deps: PagesDeps): Route[] => {
  const urls = locations(deps);
  const byName = new Map(deps.api.map((each) => [each.name, each]));
  const pages = (Object.keys(PAGES) as PageName[]).flatMap((name) => {
    const page = PAGES[name];
    const forms = Object.entries<Form>(page.forms).flatMap(([formName, form]) => {
      const submits = byName.get(form.submits);
      return submits === undefined ? [] : [formRoute(deps, urls, { page: name, formName, form, submits })];
    });
    if (!deps.isEnabled(page)) return [];
    // The API lacks the routes of all forms of this page, such as those that send mails in a service without mail.
    if (Object.keys(page.forms).length > 0 && forms.length === 0) return [];
    const shownRoutes = (page.shows ?? []).flatMap((each) => byName.get(each) ?? []);
    return [pageRoute(deps, urls, name, shownRoutes), ...forms];
  });
  const exportApi = byName.get('export-account');
  if (exportApi === undefined || !deps.isEnabled(PAGES.account)) return pages;
  return [...pages, exportRoute(deps, urls, exportApi)];
};

const queryOf = (urls: Locations, { forwards, secondView }: Page) =>
  v.looseObject({
    to: urls.target,
    before: v.optional(Id),
    [MARK]: v.optional(v.picklist(Object.values(MARKS))),
    next: secondView
      ? v.optional(v.literal(secondView.next))
      : v.optional(forwards === 'to-url' ? urls.ownLocation : forwards === 'when-proven' ? urls.target : v.never()),
  });

type PageQuery = v.InferOutput<ReturnType<typeof queryOf>>;

const pageRoute = (deps: PagesDeps, urls: Locations, name: PageName, shownRoutes: readonly Route[]): Route => {
  const page = PAGES[name];
  // The query of a link in a mail is not checked, since mail programs may change it.
  const isOfLink = page.path.startsWith('/auth/link/');
  const show = showPage(deps, urls, name, shownRoutes);
  return route({
    name: `${name}-page`,
    tag: 'pages',
    summary: `Return the page ${page.path}`,
    at: `GET ${page.path}`,
    auth: page.audience === 'visitor' ? 'required' : 'optional',
    visitor: true,
    stepUp: page.stepUp ? FACTOR_CHANGE : null,
    request: { query: isOfLink ? v.unknown() : queryOf(urls, page) },
    response: { ...pageResponse(deps.contentSecurityPolicy), redirects: true },
    errorPages: true,
    errors: [...new Set([...VISITOR_ERRORS, ...shownRoutes.flatMap(({ errors }) => [...errors])])],
    errorLocation: afterPageError(deps, urls, name),
    handler: (input, ctx) =>
      show(input, ctx, (isOfLink ? { [MARK]: readQuery(ctx.url)?.[MARK] } : input.query) as PageQuery),
  });
};

const showPage =
  (deps: PagesDeps, urls: Locations, name: PageName, shownRoutes: readonly Route[]) =>
  async (input: HandlerInput, ctx: Context, { to, next, [MARK]: mark }: PageQuery): Promise<string> => {
    const page = PAGES[name];
    const isVisitor = input.claims !== undefined;
    // Visitors who are logged in see a page for strangers only after a failure whose error the cookie has, or with the mark `no-cookie`.
    const needsNoPage = isVisitor && page.audience === 'stranger' && mark !== MARKS.noCookie;
    const storedState = needsNoPage && mark !== MARKS.failed ? null : deps.states.pop(ctx, name);
    const target = urls.locationOf('target', to, MARKS.loggedIn);
    if (needsNoPage && storedState?.error === undefined) return redirectTo(ctx, target);
    if (page.forwards === 'to-app' && !urls.isAppLink(to)) return redirectTo(ctx, urls.pathOf('account'));
    const state = stateOf(deps, name, storedState, { next, mark });
    // Neither the state, which is in a cookie, nor `next` has a URL, so the page cannot lead anywhere.
    if (page.forwards === 'to-url' && state?.payload === undefined)
      return redirectTo(ctx, urls.hrefOf('log-in', undefined, MARKS.failed));
    // Passes what the user typed to the page on which the address can be corrected.
    if (page.correctedOn !== undefined && state?.typed?.username !== undefined)
      deps.states.set(ctx, { page: page.correctedOn, form: page.correctedOn, typed: state.typed });
    if (storedState !== null && storedState.form === page.secondView?.form)
      deps.states.set(ctx, { page: name, form: storedState.form, typed: storedState.typed ?? {} });
    const payloads: Record<string, unknown> = {};
    const { before } = input.query as { readonly before?: string };
    const routeInput = { ...input, body: undefined, query: { before }, params: {} };
    for (const each of shownRoutes) payloads[each.name] = await each.handler(routeInput, ctx);
    // The form still requires a step-up, such as by another factor.
    if (state?.typed?.resumes !== undefined && page.forms[state.form]?.isLocked?.({ payloads })) {
      deps.states.set(ctx, { ...state, page: 'step-up', form: '' });
      return redirectTo(ctx, urls.detourHref('step-up', name, to));
    }
    if (page.isSkipped?.({ payloads })) return redirectTo(ctx, target);
    if (state?.error !== undefined) {
      ctx.state.status = state.error.status;
      if (state.error.retryAfter !== undefined) ctx.set('Retry-After', `${state.error.retryAfter}`);
    }
    return deps.render(ctx, {
      ...{ name, state, payloads, isVisitor, to },
      ...(page.forwards === 'when-proven' && { fallbackUrls: fallbackUrlsOf(urls, to, next) }),
      target,
    });
  };

/** The state of a page: from its URL, from the cookie (`storedState`), or a notice that registration is not open. */
const stateOf = (
  { registration }: PagesDeps,
  name: PageName,
  storedState: PageState | null,
  { next, mark }: { readonly next: PageQuery['next']; readonly mark: PageQuery[typeof MARK] },
): PageState | null => {
  const { forwards, registers, secondView, forms } = PAGES[name];
  const state = { page: name, form: '' };
  if (forwards === 'to-url' && next !== undefined) return { ...state, payload: { url: next } };
  // The first view shows again what was typed, for instance after Back on the second view.
  if (secondView !== undefined && storedState?.form === secondView.form && next === undefined)
    return { ...storedState, form: Object.keys(forms)[0] ?? '' };
  if (storedState !== null) return storedState;
  if (mark === MARKS.failed) return { ...state, error: REASON_UNSEEN };
  if (mark === MARKS.noCookie) return { ...state, notice: mark };
  // Without the cookie with the account, which may have expired, the second view asks for the account, too.
  if (secondView !== undefined && next !== undefined) return { ...state, form: secondView.form };
  return registers === 'anybody' && registration !== 'open' ? { ...state, notice: registration } : null;
};

const redirectTo = (ctx: Context, location: string): string => {
  ctx.state.location = location;
  return '';
};

/** Makes the page of the log-in show why the visitor has to log in. Without a refresh cookie, it does not say that a session has ended. */
const explainLogIn = ({ states, hasRefreshCookie }: PagesDeps, ctx: Context, code: ErrorCode): void => {
  if (code !== 'AUTH_FAILED' || hasRefreshCookie(ctx))
    states.set(ctx, { page: 'log-in', form: '', error: { code, status: 401, fields: [] } });
};

const fallbackUrlsOf = (urls: Locations, to = urls.pathOf('account'), application?: string): readonly string[] => [
  // Without the query of the target: the client in the application sends back only a path.
  ...(application === undefined ? [] : [withParameter(application, MARK, encodeURIComponent(to.replace(/\?.*/, '')))]),
  urls.hrefOf('log-in', to),
];

/** The URL to which an error of a page leads the visitor; `null`: the response is the error. */
const afterPageError = (deps: PagesDeps, urls: Locations, name: PageName) => async (ctx: Context, error: AppError) => {
  const { to, [MARK]: mark } = readQuery(ctx.url) ?? {};
  // The pending log-in is missing or no longer valid, so the visitor begins again.
  if (error.code === 'AUTH_SECOND_FACTOR_INVALID') {
    explainLogIn(deps, ctx, error.code);
    return urls.hrefOf('log-in', urls.allowedTarget(to), MARKS.failed);
  }
  const detour = detourFor(error.code);
  if (detour === null) return null;
  if (error.code === 'AUTH_STEP_UP_REQUIRED' && PAGES[name].isSkipped)
    return urls.locationOf('target', urls.allowedTarget(to), MARKS.loggedIn);
  // The visitor comes from a log-in or a proof, and is still not identified. A second detour could begin an endless loop.
  if (PAGES[detour].audience !== 'visitor' && mark === MARKS.loggedIn)
    return urls.hrefOf('log-in', urls.backTo(name, to), MARKS.noCookie);
  if (PAGES[detour].audience === 'stranger') explainLogIn(deps, ctx, 'AUTH_FAILED');
  return urls.detourHref(detour, name, to);
};

const exportRoute = (deps: PagesDeps, urls: Locations, submits: Route): Route => ({
  ...submits,
  name: 'export-page',
  tag: 'pages',
  summary: `Return as a file: what ${submits.method} ${submits.path} does`,
  path: '/auth/account/export',
  visitor: true,
  sharesLimitsOf: submits,
  request: { query: v.unknown() },
  errorPages: true,
  errors: new Set([...submits.errors, ...VISITOR_ERRORS]),
  response: { ...submits.response, unwrapped: { type: 'application/json', cacheControl: NO_STORE } },
  errorLocation: afterPageError(deps, urls, 'account'),
  handler: async (input, ctx) => {
    const data = await submits.handler(input, ctx);
    ctx.set('Content-Disposition', 'attachment; filename="account.json"');
    return data;
  },
});
