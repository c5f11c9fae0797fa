import type { Context } from 'koa';
import * as v from 'valibot';
import type { Secrets } from '../../../application/ports/secrets.ts';
import { FACTOR_CHANGE } from '../../../domain/assurance.ts';
import type { AppError } from '../../../domain/errors/app-error.ts';
import { textRule } from '../../json/text-rule.ts';
import { HTML_TYPE, textLike } from '../documents.ts';
import { type HandlerInput, NO_STORE, type Route, route } from '../routing/define-route.ts';
import { Id } from '../routing/fields.ts';
import { readForm } from '../stages/input-validation.ts';
import { type Form, PAGES, type Page, type PageName, pathOf, type Step } from './flow.ts';
import type { PageState, PageStates } from './page-state.ts';
import { type TargetSettings, targetProblem } from './targets.ts';

export type PageContent = {
  readonly name: PageName;
  readonly state: PageState | null;
  /** The payloads of the routes that the page shows, by their names. */
  readonly payloads: Readonly<Record<string, unknown>>;
  /** Whether somebody is logged in. */
  readonly isVisitor: boolean;
  /** What the visitor came for, as it is in the address of the page. */
  readonly to: string | undefined;
};

type PagesDeps = TargetSettings & {
  /** The routes of the API, to which the forms submit. */
  readonly api: readonly Route[];
  readonly states: PageStates;
  readonly contentSecurityPolicy: string;
  /** Which pages there are, besides that their forms need routes of the API. */
  readonly has: (page: Page) => boolean;
  readonly render: (ctx: Context, content: PageContent) => Promise<string>;
  /** Remembers that the visitor of a session that a form has opened or proven has its key. */
  readonly rememberProof: (ctx: Context, accessToken: string) => Promise<void>;
};

/** What the visitor came for, besides pages of applications: a page of the service. */
const isOwnPage = (to: string, base: string): boolean => Object.values(PAGES).some(({ path }) => to === base + path);

const To = (settings: TargetSettings, base: string) =>
  v.pipe(
    v.string(),
    textRule((text) => (isOwnPage(text, base) ? null : targetProblem(text, settings))),
  );

/** What a page tells an application: to look whether somebody is there. The client removes it. */
const MARK = 'tandem';

/** The routes of the pages, and of their forms. */
export const formRoutes = (deps: PagesDeps): Route[] => {
  const base = new URL(deps.baseUrl).pathname.replace(/\/$/, '');
  const target = v.optional(To(deps, base));
  const Query = v.strictObject({ to: target, before: v.optional(Id) });
  const byName = new Map(deps.api.map((each) => [each.name, each]));

  const hrefOf = (page: PageName, to: string | undefined): string =>
    `${base}${PAGES[page].path}${to === undefined ? '' : `?${new URLSearchParams({ to })}`}`;

  const locationOf = (step: Step, to: string | undefined, mark: string): string => {
    if (step !== 'target') return hrefOf(step, to);
    if (to === undefined) return hrefOf('account', undefined);
    if (to.startsWith('/')) return to;
    const url = new URL(to);
    // At the end, and as text: `searchParams` would write the others in another way.
    url.search += `${url.search === '' ? '?' : '&'}${MARK}=${mark}`;
    return url.href;
  };

  /** Where a visitor goes who misses something that a page needs. */
  const missing = (error: AppError, back: string): string | null => {
    if (error.code === 'AUTH_STEP_UP_REQUIRED') return hrefOf('step-up', back);
    if (error.code === 'AUTH_DEVICE_UNPROVEN') return hrefOf('prove', back);
    return ['AUTH_FAILED', 'AUTH_TOKEN_MISSING', 'AUTH_TOKEN_INVALID', 'DB_RECORD_NOT_FOUND'].includes(error.code)
      ? hrefOf('log-in', back)
      : null;
  };

  const pageRoute = (name: PageName): Route => {
    const page: Page = PAGES[name];
    // Some mail programs add parameters to links, which say nothing.
    const isOfLink = page.path.startsWith('/auth/link/');
    const shown = (page.shows ?? []).flatMap((each) => byName.get(each) ?? []);
    return route(
      {
        name: `${name}-page`,
        tag: 'pages',
        summary: `Return the page ${page.path}`,
        method: 'GET',
        path: page.path,
        auth: page.for === 'visitor' ? 'required' : 'optional',
        visitor: true,
        stepUp: page.stepUp ? FACTOR_CHANGE : null,
        request: { query: isOfLink ? v.unknown() : Query },
        response: {
          data: textLike('<!doctype html>…'),
          unwrapped: {
            type: HTML_TYPE,
            cacheControl: NO_STORE,
            contentSecurityPolicy: deps.contentSecurityPolicy,
            referrerPolicy: 'same-origin',
          },
          redirects: true,
        },
        errorPages: true,
        errors: [
          ...new Set(['AUTH_FAILED', 'AUTH_DEVICE_UNPROVEN', ...shown.flatMap(({ errors }) => [...errors])] as const),
        ],
        failed: async (ctx, error) => {
          if (error.code !== 'AUTH_SECOND_FACTOR_INVALID') return missing(error, base + page.path);
          // No log-in waits any more: it begins again, for what the visitor came for.
          const { to } = ctx.query;
          deps.states.set(ctx, {
            page: 'log-in',
            form: name,
            error: { code: error.code, status: error.status, fields: [] },
          });
          return hrefOf('log-in', v.is(target, to) ? to : undefined);
        },
      },
      async (input, ctx) => {
        const { to } = (isOfLink ? {} : input.query) as v.InferOutput<typeof Query>;
        // Somebody who is logged in need not do so again.
        if ((name === 'log-in' || name === 'register') && input.claims !== undefined) {
          ctx.state.location = locationOf('target', to, 'logged-in');
          return '';
        }
        const state = deps.states.take(ctx, name);
        const payloads: Record<string, unknown> = {};
        for (const each of shown) payloads[each.name] = await payloadOf(each, input, ctx);
        if (state?.error !== undefined) {
          ctx.state.pageStatus = state.error.status;
          if (state.error.retryAfter !== undefined) ctx.set('Retry-After', `${state.error.retryAfter}`);
        }
        return deps.render(ctx, { name, state, payloads, isVisitor: input.claims !== undefined, to });
      },
    );
  };

  const formRoute = (name: PageName, formName: string, form: Form): Route[] => {
    const submits = byName.get(form.submits);
    if (submits === undefined) return [];
    /** Only what is allowed: also an error leads on. */
    const toOf = ({ state }: Context): string | undefined => {
      const to = state.form?.get('to') || undefined;
      return v.is(target, to) ? to : undefined;
    };
    const path = pathOf(name, formName);
    return [
      {
        ...submits,
        name: `${name}-${formName}-form`,
        tag: 'pages',
        summary: `Submit a form of ${PAGES[name].path}: as ${submits.method} ${submits.path}`,
        method: 'POST',
        path,
        visitor: true,
        request: { query: v.strictObject({ to: target }) },
        errorPages: true,
        errors: new Set([...submits.errors, 'AUTH_FAILED', 'AUTH_DEVICE_UNPROVEN']),
        httpStatuses: new Set([...submits.httpStatuses, 415]),
        form: {
          submits,
          page: base + PAGES[name].path,
          succeeded: async (ctx) => {
            const { payload } = ctx.state;
            const { accessToken } = membersOf(payload);
            if (typeof accessToken === 'string') await deps.rememberProof(ctx, accessToken);
            const shows = form.shows !== undefined && membersOf(payload)[form.shows.member] !== undefined;
            const ahead = form.shows !== undefined && shows ? form.shows.on : successOf(form, submits);
            const step = ahead === 'target' && toOf(ctx) === undefined ? (form.otherwise ?? ahead) : ahead;
            const notice = step === form.accepted?.login ? undefined : form.notice;
            if (step !== 'target' && (shows || notice !== undefined))
              deps.states.set(ctx, {
                page: step,
                form: formName,
                // The picture is made again from its address: it does not fit into a cookie.
                ...(shows && { payload: { ...membersOf(payload), qr: undefined } }),
                ...(notice !== undefined && { notice }),
              });
            return locationOf(step, toOf(ctx), name === 'log-out' ? 'logged-out' : 'logged-in');
          },
        },
        failed: async (ctx, error) => {
          // A form of another site, or one that cannot be read.
          if (ctx.state.form === undefined && error.code === 'SYS_HTTP_UNEXPECTED_ERROR' && error.status < 500)
            return null;
          // An error before the form was read must not cost the visitor what was typed.
          const sent = ctx.state.form ?? (await readForm(ctx).catch(() => null));
          if (sent === null) return null;
          ctx.state.form = sent;
          const elsewhere = form.on?.[error.code];
          if (elsewhere !== undefined) return hrefOf(elsewhere, toOf(ctx));
          const asked = PAGES[name].for === 'visitor' ? missing(error, base + PAGES[name].path) : null;
          if (asked !== null) return asked;
          deps.states.set(ctx, {
            page: name,
            form: formName,
            typed: typedIn(ctx),
            error: {
              code: error.code,
              status: error.status,
              ...(error.retryAfter !== undefined && { retryAfter: error.retryAfter }),
              fields: (error.details ?? []).map(({ field, code }) => ({ field: fieldOf(field, form), code })),
            },
          });
          return hrefOf(name, toOf(ctx));
        },
      },
    ];
  };

  return (Object.keys(PAGES) as PageName[]).flatMap((name) => {
    const forms = Object.entries<Form>(PAGES[name].forms).flatMap(([formName, form]) =>
      formRoute(name, formName, form),
    );
    if (!deps.has(PAGES[name])) return [];
    // A page is there if its forms are: without mail, nobody can ask for a new password.
    return Object.keys(PAGES[name].forms).length > 0 && forms.length === 0 ? [] : [pageRoute(name), ...forms];
  });
};

/** A registration may have to wait: for the mail that verifies its address, or for the second factor of its log-in. */
const successOf = ({ leadsTo, accepted }: Form, { response, cookie }: Route): Step => {
  if (accepted === undefined || response.status !== 202) return leadsTo;
  return cookie.writes === 'waits' ? accepted.login : accepted.mail;
};

/** The field that a problem is about. Where a body has to have one of several members, it is the one that the form has. */
const fieldOf = (field: string, { fields: [first] }: Form): string =>
  field === 'body' ? (first ?? field) : field.replace(/^body\./, '');

const payloadOf = async ({ handler }: Route, input: HandlerInput, ctx: Context): Promise<unknown> => {
  const { claims, caller, signal, query } = input;
  const before = membersOf(query).before;
  return handler({ body: undefined, query: { before }, params: {}, claims, caller, signal }, ctx);
};

const membersOf = (payload: unknown): Readonly<Record<string, unknown>> =>
  typeof payload === 'object' && payload !== null ? { ...payload } : {};

/** Fields whose text is filled in again: neither passwords nor codes. */
const FILLED_AGAIN = ['account', 'username', 'email', 'locale', 'token'];

const typedIn = ({ state }: Context): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...(state.form ?? [])]
      .filter(([name]) => FILLED_AGAIN.includes(name))
      .map(([name, text]) => [name, text.slice(0, 300)]),
  );

/** The cookie that shows for minutes that a visitor has proven the key of the session. */
export const visitorProofs = (secrets: Pick<Secrets, 'sign' | 'unsign'>, now: () => number, lifetime: number) => ({
  of: ({ userId, sessionId }: { readonly userId: string; readonly sessionId: string }): string =>
    secrets.sign({ purpose: 'page-visitor', userId, sessionId, value: '', expiresAt: now() + lifetime }),
  sessionsIn: (texts: readonly string[]): readonly string[] =>
    texts.flatMap((text) => secrets.unsign(text, 'page-visitor', now())?.sessionId ?? []),
});
