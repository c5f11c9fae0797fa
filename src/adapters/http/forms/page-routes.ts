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
import { type Locations, locations, MARK, MARKS, pageLacking, VISITOR_ERRORS, withParameter } from './locations.ts';
import type { PageFacts } from './page-facts.ts';
import type { PageState } from './page-state.ts';
import type { TargetSettings } from './targets.ts';

export type PageContent = Pick<PageFacts, 'payloads' | 'isVisitor'> & {
  readonly name: PageName;
  readonly state: PageState | null;
  /** The query parameter: where the visitor wants to go in the end. */
  readonly to: string | undefined;
  /** The URL of `to`, or of the account. */
  readonly target: string;
  /** Where the visitor goes if this page does not have the key: to the application, which may have it, or to the log-in. */
  readonly elsewhere?: readonly string[];
};

type PagesDeps = TargetSettings &
  FormDeps & {
    /** The routes of the API, to which the forms submit. */
    readonly api: readonly Route[];
    readonly contentSecurityPolicy: string;
    /** Whether the configuration asks for a page. */
    readonly has: (page: Page) => boolean;
    readonly registration: RegistrationPolicy['mode'];
    readonly render: (ctx: Context, content: PageContent) => Promise<string>;
  };

/** The browser has not kept the cookie with the error of the form. */
const REASON_UNSEEN: PageState['error'] = { code: 'reason-unseen', status: 400, fields: [] };

/** The routes of the pages, and of their forms. */
export const formRoutes = (deps: PagesDeps): Route[] => {
  const at = locations(deps);
  const byName = new Map(deps.api.map((each) => [each.name, each]));
  const pages = (Object.keys(PAGES) as PageName[]).flatMap((name) => {
    const page = PAGES[name];
    const forms = Object.entries<Form>(page.forms).flatMap(([formName, form]) => {
      const submits = byName.get(form.submits);
      return submits === undefined ? [] : [formRoute(deps, at, { page: name, formName, form, submits })];
    });
    if (!deps.has(page)) return [];
    // Without mail, for example, nobody can ask for a new password.
    if (Object.keys(page.forms).length > 0 && forms.length === 0) return [];
    const shown = (page.shows ?? []).flatMap((each) => byName.get(each) ?? []);
    return [pageRoute(deps, at, name, shown), ...forms];
  });
  const exported = byName.get('export-account');
  return exported === undefined || !deps.has(PAGES.account) ? pages : [...pages, exportRoute(deps, at, exported)];
};

const queryOf = (at: Locations, { leadsOn, second }: Page) =>
  v.looseObject({
    to: at.target,
    before: v.optional(Id),
    [MARK]: v.optional(v.picklist(Object.values(MARKS))),
    next: second
      ? v.optional(v.literal(second.next))
      : v.optional(leadsOn === 'to-url' ? at.ownLocation : leadsOn === 'when-proven' ? at.target : v.never()),
  });

type PageQuery = v.InferOutput<ReturnType<typeof queryOf>>;

const pageRoute = (deps: PagesDeps, at: Locations, name: PageName, shown: readonly Route[]): Route => {
  const page = PAGES[name];
  // Mail programs may add parameters to links.
  const isOfLink = page.path.startsWith('/auth/link/');
  const show = showPage(deps, at, name, shown);
  return route({
    name: `${name}-page`,
    tag: 'pages',
    summary: `Return the page ${page.path}`,
    at: `GET ${page.path}`,
    auth: page.for === 'visitor' ? 'required' : 'optional',
    visitor: true,
    stepUp: page.stepUp ? FACTOR_CHANGE : null,
    request: { query: isOfLink ? v.unknown() : queryOf(at, page) },
    response: { ...pageResponse(deps.contentSecurityPolicy), redirects: true },
    errorPages: true,
    errors: [...new Set([...VISITOR_ERRORS, ...shown.flatMap(({ errors }) => [...errors])])],
    failed: withoutPage(deps, at, name),
    handler: (input, ctx) =>
      show(input, ctx, (isOfLink ? { [MARK]: readQuery(ctx.url)?.[MARK] } : input.query) as PageQuery),
  });
};

const showPage =
  (deps: PagesDeps, at: Locations, name: PageName, shown: readonly Route[]) =>
  async (input: HandlerInput, ctx: Context, { to, next, [MARK]: mark }: PageQuery): Promise<string> => {
    const page = PAGES[name];
    const isVisitor = input.claims !== undefined;
    // Visitors who are logged in do not see the log-in, unless a form that has just failed leads here.
    const isLoggedIn = isVisitor && page.for === 'stranger' && mark !== MARKS.noCookie;
    const stored = isLoggedIn && mark !== MARKS.failed ? null : deps.states.take(ctx, name);
    if (isLoggedIn && stored?.error === undefined) return redirected(ctx, at.locationOf('target', to, MARKS.loggedIn));
    if (page.leadsOn === 'to-app' && !at.isOfApp(to)) return redirected(ctx, at.pathOf('account'));
    const state = stateOf(deps, name, stored, { next, mark });
    // The URL is in the state, and so in a cookie.
    if (page.leadsOn === 'to-url' && state?.payload === undefined)
      return redirected(ctx, at.hrefOf('log-in', undefined, MARKS.failed));
    // Keeps what was typed for the page on which the address can be corrected.
    if (page.corrects !== undefined && state?.typed?.username !== undefined)
      deps.states.set(ctx, { page: page.corrects, form: page.corrects, typed: state.typed });
    if (stored !== null && stored.form === page.second?.form)
      deps.states.set(ctx, { page: name, form: stored.form, typed: stored.typed ?? {} });
    const payloads: Record<string, unknown> = {};
    const { before } = input.query as { readonly before?: string };
    const shownInput = { ...input, body: undefined, query: { before }, params: {} };
    for (const each of shown) payloads[each.name] = await each.handler(shownInput, ctx);
    // Another factor is missing.
    if (state?.typed?.resumes !== undefined && page.forms[state.form]?.locked?.({ payloads })) {
      deps.states.set(ctx, { ...state, page: 'step-up', form: '' });
      return redirected(ctx, at.lackingAt('step-up', name, to));
    }
    if (page.skips?.({ payloads })) return redirected(ctx, at.locationOf('target', to, MARKS.loggedIn));
    if (state?.error !== undefined) {
      ctx.state.status = state.error.status;
      if (state.error.retryAfter !== undefined) ctx.set('Retry-After', `${state.error.retryAfter}`);
    }
    return deps.render(ctx, {
      ...{ name, state, payloads, isVisitor, to },
      ...(page.leadsOn === 'when-proven' && { elsewhere: targetsWithoutKey(at, to, next) }),
      target: at.locationOf('target', to, MARKS.loggedIn),
    });
  };

/** The state that follows from the address of a page, that of a form, or a notice that follows from the configuration. */
const stateOf = (
  { registration }: PagesDeps,
  name: PageName,
  stored: PageState | null,
  { next, mark }: { readonly next: PageQuery['next']; readonly mark: PageQuery[typeof MARK] },
): PageState | null => {
  const { leadsOn, registers, second, forms } = PAGES[name];
  const state = { page: name, form: '' };
  if (leadsOn === 'to-url' && next !== undefined) return { ...state, payload: { url: next } };
  // Back from the second view, with what was typed.
  if (second !== undefined && stored?.form === second.form && next === undefined)
    return { ...stored, form: Object.keys(forms)[0] ?? '' };
  if (stored !== null) return stored;
  if (mark === MARKS.failed) return { ...state, error: REASON_UNSEEN };
  if (mark === MARKS.noCookie) return { ...state, notice: mark };
  // What was typed is not known any more, or the browser keeps no cookies. The form of the second view asks for it again.
  if (second !== undefined && next !== undefined) return { ...state, form: second.form };
  return registers === 'anybody' && registration !== 'open' ? { ...state, notice: registration } : null;
};

const redirected = (ctx: Context, location: string): string => {
  ctx.state.location = location;
  return '';
};

/** Makes the log-in say why it is shown. Without a cookie there was no session that could have ended. */
const sayAtLogIn = ({ states, hasCookie }: PagesDeps, ctx: Context, code: ErrorCode): void => {
  if (code !== 'AUTH_FAILED' || hasCookie(ctx))
    states.set(ctx, { page: 'log-in', form: '', error: { code, status: 401, fields: [] } });
};

const targetsWithoutKey = (at: Locations, to = at.pathOf('account'), application?: string): readonly string[] => [
  // The application adds its own query again.
  ...(application === undefined ? [] : [withParameter(application, MARK, encodeURIComponent(to.replace(/\?.*/, '')))]),
  at.hrefOf('log-in', to),
];

/** Where a visitor goes who cannot have a page. */
const withoutPage = (deps: PagesDeps, at: Locations, name: PageName) => async (ctx: Context, error: AppError) => {
  const { to, [MARK]: mark } = readQuery(ctx.url) ?? {};
  // The pending log-in has expired: it begins again.
  if (error.code === 'AUTH_SECOND_FACTOR_INVALID') {
    sayAtLogIn(deps, ctx, error.code);
    return at.hrefOf('log-in', at.allowed(to), MARKS.failed);
  }
  const lacking = pageLacking(error.code);
  if (lacking === null) return null;
  if (error.code === 'AUTH_STEP_UP_REQUIRED' && PAGES[name].skips)
    return at.locationOf('target', at.allowed(to), MARKS.loggedIn);
  // If the browser has not kept the cookie of a log-in or a proof, the visitor would be sent there again and again.
  const isBack = PAGES[lacking].for !== 'visitor' && mark === MARKS.loggedIn;
  if (PAGES[lacking].for === 'stranger' && !isBack) sayAtLogIn(deps, ctx, 'AUTH_FAILED');
  return isBack ? at.hrefOf('log-in', at.targetBackTo(name, to), MARKS.noCookie) : at.lackingAt(lacking, name, to);
};

/** Returns as a file everything that is stored about the visitor. */
const exportRoute = (deps: PagesDeps, at: Locations, submits: Route): Route => ({
  ...submits,
  name: 'export-page',
  tag: 'pages',
  summary: `Return as a file: what ${submits.method} ${submits.path} does`,
  path: '/auth/account/export',
  visitor: true,
  countsAs: submits,
  request: { query: v.unknown() },
  errorPages: true,
  errors: new Set([...submits.errors, ...VISITOR_ERRORS]),
  response: { ...submits.response, unwrapped: { type: 'application/json', cacheControl: NO_STORE } },
  failed: withoutPage(deps, at, 'account'),
  handler: async (input, ctx) => {
    const data = await submits.handler(input, ctx);
    ctx.set('Content-Disposition', 'attachment; filename="account.json"');
    return data;
  },
});
