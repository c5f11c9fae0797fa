import type { Context } from 'koa';
import * as v from 'valibot';
import type { Caller } from '../../../application/sessions/current-user.ts';
import type { AppError } from '../../../domain/errors/app-error.ts';
import type { HttpOnlyCookie } from '../request/cookies.ts';
import type { Route } from '../routing/define-route.ts';
import { authenticates, type Form, PAGES, type PageName, pathOf, type Step, takesProof, usedAs } from './flow.ts';
import { readForm } from './form-validation.ts';
import { type Locations, MARKS, pageLacking, VISITOR_ERRORS } from './locations.ts';
import { type PageStates, shownError } from './page-state.ts';

export type FormDeps = {
  readonly states: PageStates;
  /** Whether the request has a refresh cookie, valid or not. */
  readonly hasCookie: (ctx: Context) => boolean;
  /** The session of an access token that was just issued. */
  readonly openedBy: (accessToken: string) => Promise<Caller | undefined>;
  /** Sets the cookie of a visitor who has proven possession of the key: in this request (`isNew`), or minutes ago. */
  readonly rememberProof: (ctx: Context, opened: Caller, isNew: boolean) => void;
  /** A code by which an application binds the session. */
  readonly bindingCodeOf: (opened: Caller) => string;
  readonly usedLast: HttpOnlyCookie;
};

/** A form of a page, and the route that it submits to. */
type Submitted = { readonly page: PageName; readonly formName: string; readonly form: Form; readonly submits: Route };

/** The route that a form is posted to. */
export const formRoute = (deps: FormDeps, at: Locations, submitted: Submitted): Route => {
  const { page, formName, submits } = submitted;
  return {
    ...submits,
    name: `${page}-${formName}-form`,
    tag: 'pages',
    summary: `Submit a form of ${PAGES[page].path}: as ${submits.method} ${submits.path}`,
    method: 'POST',
    path: pathOf(page, formName),
    visitor: true,
    ...(PAGES[page].for === 'visitor' && { auth: 'required' as const }),
    request: { query: v.strictObject({ to: at.target }) },
    errorPages: true,
    errors: new Set([...submits.errors, ...VISITOR_ERRORS]),
    httpStatuses: new Set([...submits.httpStatuses, 415]),
    form: { submits, page: at.pathOf(page), needs: submitted.form.needs, succeeded: whenDone(deps, at, submitted) },
    failed: whenFailed(deps, at, submitted),
  };
};

const targetOf = ({ allowed }: Locations, { state }: Context): string | undefined =>
  allowed(state.form?.get('to') || undefined);

const rememberUse = ({ usedLast }: Pick<FormDeps, 'usedLast'>, ctx: Context, { formName, form }: Submitted): void => {
  if (form.recalled === true) usedLast.set(ctx, usedAs(formName, ctx.state.form?.get('provider')));
};

const whenDone = (deps: FormDeps, at: Locations, submitted: Submitted) => async (ctx: Context) => {
  const { states, openedBy, rememberProof, bindingCodeOf } = deps;
  const { page, formName, form } = submitted;
  rememberUse(deps, ctx, submitted);
  const payload: Readonly<Record<string, unknown>> = { ...(ctx.state.payload as object | null) };
  const { accessToken } = payload;
  const opened = typeof accessToken === 'string' ? await openedBy(accessToken) : undefined;
  // Without a proof in this form, the earlier proof counts, until it expires.
  const provesKey = takesProof(form) && !!ctx.state.form?.get('proof');
  if (opened !== undefined) rememberProof(ctx, opened, provesKey);
  const to = targetOf(at, ctx);
  const shows = form.shows !== undefined && payload[form.shows.member] !== undefined ? form.shows : null;
  const ahead = shows?.on ?? stepAfterSuccess(submitted, ctx.state.form?.get('password'));
  const step = ahead === 'target' && to === undefined ? (form.otherwise ?? ahead) : ahead;
  const notice = noticeOf(form, step);
  const second = step === page ? PAGES[page].second : undefined;
  if (step !== 'target' && (shows !== null || notice !== undefined || second !== undefined))
    states.set(ctx, {
      page: step,
      form: second?.form ?? form.buttonOf ?? formName,
      // The QR code does not fit into a cookie. The page makes it again from `uri`.
      ...(shows !== null && {
        session: (opened ?? ctx.request.caller)?.sessionId,
        payload: { ...payload, accessToken: undefined, qr: undefined, user: undefined },
      }),
      ...(notice !== undefined && { notice }),
      typed: typedIn(new Map(form.keeps?.map((each) => [each, ctx.state.form?.get(each) ?? '']))),
    });
  else if (opened !== undefined && authenticates(form)) states.clear(ctx);
  if (second !== undefined) return at.hrefOf(page, to, undefined, second.next);
  if (step === 'target') resume(deps, at, ctx, to);
  const code = opened && authenticates(form) ? bindingCodeOf(opened) : undefined;
  return at.locationOf(step, to, form.mark ?? (opened && MARKS.loggedIn), code);
};

/** After a step-up, the page that it leads back to has the form for which it was asked, with what was typed. */
const resume = ({ states }: FormDeps, at: Locations, ctx: Context, to = ''): void => {
  const form = ctx.state.form?.get('resumes') ?? '';
  const page = at.pageAt(to.replace(/\?.*/s, ''));
  if (page === undefined || PAGES[page].forms[form] === undefined) return;
  states.set(ctx, { page, form, typed: typedIn(ctx.state.form ?? new Map()), session: ctx.request.caller?.sessionId });
};

const whenFailed = (deps: FormDeps, at: Locations, submitted: Submitted) => async (ctx: Context, error: AppError) => {
  const { states } = deps;
  const { page, formName, form } = submitted;
  // A form of another site, or one that cannot be read, gets the error page.
  if (ctx.state.form === undefined && error.code === 'SYS_HTTP_UNEXPECTED_ERROR' && error.status < 500) return null;
  // An error may come before the form was read. What was typed must not be lost.
  const fields = ctx.state.form ?? (await readForm(ctx).catch(() => null));
  if (fields === null) return null;
  ctx.state.form = fields;
  const to = targetOf(at, ctx);
  const otherPage = form.onError?.[error.code];
  // The log-in has not failed, but goes on there.
  if (otherPage !== undefined && error.code === 'AUTH_SECOND_FACTOR_REQUIRED') {
    rememberUse(deps, ctx, submitted);
    return at.hrefOf(otherPage, to);
  }
  const isItemGone = error.code === 'DB_RECORD_NOT_FOUND' && fields.has('id');
  // With a caller, the guard has passed, and the error is of the route itself.
  const isOfRoute = isItemGone || (otherPage !== undefined && ctx.request.caller !== undefined);
  const lacking = PAGES[page].for === 'visitor' && !isOfRoute ? pageLacking(error.code) : null;
  if (lacking !== null) {
    const isSent = form.locked === undefined || form.fields.some((field) => fields.get(field));
    states.set(ctx, {
      // A page that goes on by itself shows no notice.
      ...{ page: PAGES[lacking].leadsOn ? page : lacking, form: '' },
      ...(isSent && { notice: 'not-sent' }),
      ...(error.code === 'AUTH_STEP_UP_REQUIRED' && {
        typed: { ...typedIn(fields), resumes: form.buttonOf ?? formName },
        session: ctx.request.caller?.sessionId,
      }),
    });
    return at.lackingAt(lacking, page, to);
  }
  const shown = otherPage === undefined ? (form.buttonOf ?? formName) : '';
  states.set(ctx, {
    page: otherPage ?? page,
    form: shown,
    typed: typedIn(fields),
    ...(otherPage === undefined && { session: ctx.request.caller?.sessionId }),
    error: {
      ...shownError(error),
      fields: (error.details ?? [])
        .map((problem) => ({ field: fieldOf(problem.field, form), code: problem.code }))
        .filter(({ field }) => form.fields.includes(field)),
    },
  });
  const { second } = PAGES[page];
  return at.hrefOf(otherPage ?? page, to, MARKS.failed, shown === second?.form ? second.next : undefined);
};

const stepAfterSuccess = ({ form, submits: { response, cookie } }: Submitted, password = ''): Step => {
  const { leadsTo, accepted } = form;
  if (accepted === undefined || response.status !== 202) return leadsTo;
  if (cookie.writes !== 'waits') return accepted.mail;
  return password === '' ? accepted.code : accepted.login;
};

const noticeOf = ({ accepted, notice }: Form, step: Step): string | undefined => {
  if (step === accepted?.login) return undefined;
  return step === accepted?.code ? 'registered' : notice;
};

/** The field of a problem. A problem of the whole body is shown at the first field. */
const fieldOf = (field: string, { fields: [first] }: Form): string =>
  field === 'body' ? (first ?? field) : field.replace(/^body\./, '');

/** Fields whose text the page fills in again: neither passwords nor codes. `id`, `secret` and `uri` are of an app that is being added. */
const REFILLED = [
  ...['account', 'username', 'email', 'locale', 'name', 'remember', 'resumes'],
  ...['token', 'invitation', 'id', 'secret', 'uri'],
];
const REFILLED_MAX_LENGTH = 500;

const typedIn = (form: ReadonlyMap<string, string>): Readonly<Record<string, string>> => {
  const refilled = [...form].filter(([name]) => REFILLED.includes(name));
  return Object.fromEntries(refilled.map(([name, text]) => [name, text.slice(0, REFILLED_MAX_LENGTH)]));
};
