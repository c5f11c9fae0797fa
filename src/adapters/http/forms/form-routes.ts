import type { Context } from 'koa';
import * as v from 'valibot';
import type { Caller } from '../../../application/sessions/current-user.ts';
import type { AppError } from '../../../domain/errors/app-error.ts';
import type { HttpOnlyCookie } from '../request/cookies.ts';
import type { Route } from '../routing/define-route.ts';
import { authenticates, type Form, formPath, lastUse, PAGES, type PageName, type Step, takesProof } from './flow.ts';
import { readForm } from './form-validation.ts';
import { detourFor, type Locations, MARKS, VISITOR_ERRORS } from './locations.ts';
import { type PageStates, shownError } from './page-state.ts';
import type { Visitors } from './visitors.ts';

export type FormDeps = Omit<Visitors, 'tokenOf' | 'isLoggedIn'> & {
  readonly states: PageStates;
  readonly usedLast: HttpOnlyCookie;
};

type PlacedForm = { readonly page: PageName; readonly formName: string; readonly form: Form; readonly submits: Route };

export const formRoute = (deps: FormDeps, urls: Locations, placed: PlacedForm): Route => {
  const { page, formName, submits } = placed;
  const { requiredField } = placed.form;
  return {
    ...submits,
    name: `${page}-${formName}-form`,
    tag: 'pages',
    summary: `Submit a form of ${PAGES[page].path}: as ${submits.method} ${submits.path}`,
    method: 'POST',
    path: formPath(page, formName),
    visitor: true,
    ...(PAGES[page].audience === 'visitor' && { auth: 'required' as const }),
    request: { query: v.strictObject({ to: urls.target }) },
    errorPages: true,
    errors: new Set([...submits.errors, ...VISITOR_ERRORS]),
    httpStatuses: new Set([...submits.httpStatuses, 415]),
    form: { submits, page: urls.pathOf(page), requiredField, successLocation: afterSuccess(deps, urls, placed) },
    errorLocation: afterError(deps, urls, placed),
  };
};

const targetOf = ({ allowedTarget }: Locations, { state }: Context): string | undefined =>
  allowedTarget(state.form?.get('to') || undefined);

const rememberUse = ({ usedLast }: Pick<FormDeps, 'usedLast'>, ctx: Context, { formName, form }: PlacedForm): void => {
  if (form.marksLastUse === true) usedLast.set(ctx, lastUse(formName, ctx.state.form?.get('provider')));
};

const afterSuccess = (deps: FormDeps, urls: Locations, placed: PlacedForm) => async (ctx: Context) => {
  const { states, sessionOfToken, rememberProof, bindingCodeOf } = deps;
  const { page, formName, form } = placed;
  rememberUse(deps, ctx, placed);
  const payload: Readonly<Record<string, unknown>> = { ...(ctx.state.payload as object | null) };
  const { accessToken } = payload;
  const openedSession = typeof accessToken === 'string' ? await sessionOfToken(accessToken) : undefined;
  const provesKey = takesProof(form) && !!ctx.state.form?.get('proof');
  if (openedSession !== undefined) rememberProof(ctx, openedSession, provesKey);
  const to = targetOf(urls, ctx);
  const showsOnce = form.showsOnce && payload[form.showsOnce.member] !== undefined ? form.showsOnce : null;
  const resultStep =
    showsOnce?.on ?? stepAfterSuccess(placed, openedSession !== undefined, ctx.state.form?.get('password'));
  const step = resultStep === 'target' && to === undefined ? (form.withoutTarget ?? resultStep) : resultStep;
  const notice = noticeOf(form, step);
  const nextView = step === page ? PAGES[page].secondView : undefined;
  if (step !== 'target' && (showsOnce !== null || notice !== undefined || nextView !== undefined))
    states.set(ctx, {
      page: step,
      form: nextView?.form ?? form.buttonOf ?? formName,
      // The state has no QR code, which would be too long for a cookie. The page makes it again from `uri`.
      ...(showsOnce !== null && {
        session: (openedSession ?? ctx.request.caller)?.sessionId,
        payload: { ...payload, accessToken: undefined, qr: undefined, user: undefined },
      }),
      ...(notice !== undefined && { notice }),
      typed: refilledTexts(new Map(form.keptFields?.map((each) => [each, ctx.state.form?.get(each) ?? '']))),
    });
  else if (openedSession !== undefined && authenticates(form)) states.clear(ctx);
  if (nextView !== undefined) return urls.hrefOf(page, to, undefined, nextView.next);
  if (step === 'target') resumeForm(deps, urls, ctx, to, openedSession ?? ctx.request.caller);
  const code = openedSession && authenticates(form) ? bindingCodeOf(openedSession) : undefined;
  return urls.locationOf(step, to, form.mark ?? (openedSession && MARKS.loggedIn), code);
};

/** The field `resumes` has the name and the user of a form that required a step-up. If the target is the page of the form, this user sees the form again. */
const resumeForm = ({ states }: FormDeps, urls: Locations, ctx: Context, to = '', caller?: Caller): void => {
  const [form = '', userId] = ctx.state.form?.get('resumes')?.split(' ') ?? [];
  const page = urls.pageAt(to.replace(/\?.*/s, ''));
  if (page === undefined || PAGES[page].forms[form] === undefined || userId !== caller?.userId) return;
  const typed = refilledTexts(ctx.state.form ?? new Map());
  states.set(ctx, { page, form, typed, session: caller?.sessionId });
};

const afterError = (deps: FormDeps, urls: Locations, placed: PlacedForm) => async (ctx: Context, error: AppError) => {
  const { states } = deps;
  const { page, formName, form } = placed;
  // A form of another origin, or one that cannot be read, does not lead back to its page.
  if (ctx.state.form === undefined && error.code === 'SYS_HTTP_UNEXPECTED_ERROR' && error.status < 500) return null;
  // If a stage failed before the form was read, this reads the form, so that the page can show again what the user typed.
  const fields = ctx.state.form ?? (await readForm(ctx).catch(() => null));
  if (fields === null) return null;
  ctx.state.form = fields;
  const to = targetOf(urls, ctx);
  const otherPage = form.onError?.[error.code];
  // This is no failure: the log-in continues on the other page.
  if (otherPage !== undefined && error.code === 'AUTH_SECOND_FACTOR_REQUIRED') {
    rememberUse(deps, ctx, placed);
    return urls.hrefOf(otherPage, to);
  }
  const isItemGone = error.code === 'DB_RECORD_NOT_FOUND' && fields.has('id');
  // The errors of `onError` that the guard throws come before it sets the caller. With a caller, the error is one of the route itself.
  const isErrorOfRoute = isItemGone || (otherPage !== undefined && ctx.request.caller !== undefined);
  const detour = PAGES[page].audience === 'visitor' && !isErrorOfRoute ? detourFor(error.code) : null;
  if (detour !== null) {
    const losesInput = !PAGES[page].forwards && (!form.isLocked || form.fields.some((field) => fields.get(field)));
    states.set(ctx, {
      // If the detour only leads elsewhere, the page of the form shows the notice later.
      ...{ page: PAGES[detour].forwards ? page : detour, form: '' },
      ...(losesInput && { notice: 'not-sent' }),
      ...(error.code === 'AUTH_STEP_UP_REQUIRED' && {
        typed: { ...refilledTexts(fields), resumes: `${form.buttonOf ?? formName} ${ctx.request.caller?.userId}` },
        session: ctx.request.caller?.sessionId,
      }),
    });
    return urls.detourHref(detour, page, to);
  }
  const stateForm = otherPage === undefined ? (form.buttonOf ?? formName) : '';
  states.set(ctx, {
    page: otherPage ?? page,
    form: stateForm,
    typed: refilledTexts(fields),
    ...(otherPage === undefined && { session: ctx.request.caller?.sessionId }),
    error: {
      ...shownError(error),
      fields: (error.details ?? [])
        .map((problem) => ({ field: fieldOf(problem.field, form), code: problem.code }))
        .filter(({ field }) => form.fields.includes(field)),
    },
  });
  const { secondView } = PAGES[page];
  const next = stateForm === secondView?.form ? secondView.next : undefined;
  return urls.hrefOf(otherPage ?? page, to, MARKS.failed, next);
};

const stepAfterSuccess = ({ form, submits }: PlacedForm, hasSession: boolean, password = ''): Step => {
  const { leadsTo, withoutSession, requiredField } = form;
  if (hasSession || withoutSession === undefined || submits.response.status !== 202) return leadsTo;
  // Only the form for invited users has a required field. They have proven the address.
  if (submits.cookie.writes !== 'waits' && requiredField === undefined) return withoutSession.mail;
  return password === '' ? withoutSession.code : withoutSession.secondFactor;
};

const noticeOf = ({ withoutSession, notice }: Form, step: Step): string | undefined => {
  if (step === withoutSession?.secondFactor) return undefined;
  return step === withoutSession?.code ? 'registered' : notice;
};

/** The field at which the page shows a problem. It shows a problem of the whole body at the first field. */
const fieldOf = (field: string, { fields: [first] }: Form): string =>
  field === 'body' ? (first ?? field) : field.replace(/^body\./, '');

/** Fields whose text the page fills in again, without passwords and codes. `secret` and `uri` belong to an authenticator app that the user is adding. */
const REFILLED_FIELDS = [
  ...['account', 'username', 'email', 'locale', 'name', 'remember', 'resumes'],
  ...['token', 'invitation', 'id', 'secret', 'uri'],
];
const REFILLED_MAX_LENGTH = 500;

const refilledTexts = (form: ReadonlyMap<string, string>): Readonly<Record<string, string>> => {
  const fields = [...form].filter(([name]) => REFILLED_FIELDS.includes(name));
  return Object.fromEntries(fields.map(([name, text]) => [name, text.slice(0, REFILLED_MAX_LENGTH)]));
};
