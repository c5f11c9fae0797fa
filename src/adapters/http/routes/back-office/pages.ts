import type { Context } from 'koa';
import * as v from 'valibot';
import {
  accountData,
  existingUser,
  listEventsAsOperator,
  listUsers,
} from '../../../../application/accounts/account-data.ts';
import type { Clock } from '../../../../application/ports/clock-and-ids.ts';
import type { Secrets } from '../../../../application/ports/secrets.ts';
import type { Stores } from '../../../../application/storage/records.ts';
import type { AppError } from '../../../../domain/errors/app-error.ts';
import { isScope } from '../../../../domain/operator.ts';
import { EMAIL_MAX_LENGTH } from '../../../../domain/user.ts';
import { Id, IdParams } from '../../../json/fields.ts';
import { PAGE_POLICY, pageResponse } from '../../documents.ts';
import { membersOf } from '../../forms/form-validation.ts';
import { pathIn, type Site } from '../../pages/layout.ts';
import type { ActForm, FormOutcome, OfficeForm } from '../../pages/office.ts';
import { type Route, route } from '../../routing/define-route.ts';
import type { Act } from './act.ts';
import { ACTS } from './acts.ts';

const LIST = '/office';
const USER = '/office/users';
const PAGE_SIZE = 50;
/** Milliseconds. */
const SAID_LIFETIME = 60_000;
/** What is filled in again, in characters. */
const TYPED_MAX_LENGTH = 300;

type PagesDeps = Stores & {
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly site: Site;
  /** The routes of the back office, to which the forms submit. */
  readonly api: readonly Route[];
  /** Where people log out; `null`: not here. */
  readonly logOutUrl: string | null;
};

/**
 * The pages for people, whom a proxy has authenticated, and their forms. What a form says is in the address that it leads to, encrypted for
 * a minute and for its operator: no cookie is needed, and nobody else can make a page say something.
 */
export const officeRoutes = (deps: PagesDeps): Route[] => {
  const { site, api, secrets } = deps;
  const forms = Object.entries<Act>(ACTS).flatMap(([name, { form }]) => {
    const submits = api.find((each) => each.name === `operators-${name}`);
    return form === undefined || submits === undefined
      ? []
      : [{ ...form, name, members: membersOf(submits.request.body), posted: formRoute(deps, name, form, submits) }];
  });
  /** What all pages have. @param id of the user whom the page shows */
  const shown = (ctx: Context, said: string | undefined, id = '') => ({
    site,
    operator: operatorOf(ctx),
    once: secrets.random(),
    logOutUrl: deps.logOutUrl,
    said: saidIn(deps, ctx, said),
    forms: new Map<string, OfficeForm>(
      forms
        .filter(({ posted }) => isScope(posted.auth) && ctx.state.operator?.scopes.includes(posted.auth))
        .map((form) => [form.name, { ...form, action: pathIn(site, form.posted.path.replace(':id', id)) }]),
    ),
  });
  return [
    route(
      {
        ...{ ...PAGE, name: 'office-list', path: LIST, summary: 'Return the page that lists users' },
        request: {
          query: v.looseObject({
            contains: v.optional(v.pipe(v.string(), v.maxLength(EMAIL_MAX_LENGTH))),
            cursor: v.optional(Id),
            said: Sealed,
          }),
        },
      },
      async ({ query }, ctx) => {
        const contains = query.contains?.trim() || null;
        const found = await listUsers(deps)({
          ...{ contains, after: query.cursor ?? null, newestFirst: true, limit: PAGE_SIZE },
        });
        const { officeListPage } = await import('../../pages/office.ts');
        return officeListPage({ ...shown(ctx, query.said), ...found, contains });
      },
    ),
    route(
      {
        ...{ ...PAGE, name: 'office-user', path: `${USER}/:id`, summary: 'Return the page of a user' },
        request: { params: IdParams, query: v.looseObject({ before: v.optional(Id), said: Sealed }) },
      },
      async ({ params: { id }, query: { before = null, said } }, ctx) => {
        const data = await accountData(deps, await existingUser(deps, id), deps.clock.now());
        const story = await listEventsAsOperator(deps)(id, { before, limit: PAGE_SIZE });
        const { officeUserPage } = await import('../../pages/office.ts');
        return officeUserPage({ ...shown(ctx, said, id), data, ...story });
      },
    ),
    ...forms.map(({ posted }) => posted),
  ];
};

const Sealed = v.optional(v.pipe(v.string(), v.maxLength(4_000)));

const PAGE = {
  tag: 'back-office',
  method: 'GET',
  auth: 'users:read',
  visitor: true,
  errorPages: true,
  response: pageResponse(PAGE_POLICY.replace("form-action 'none'", "form-action 'self'")),
} as const;

const operatorOf = ({ state: { operator } }: Context): string => operator?.name ?? '';

/** The route that a form is posted to: its guard is that of the pages, and all else that of the route that it submits to. */
const formRoute = (deps: PagesDeps, name: string, { confirm, leadsTo }: ActForm, submits: Route): Route => {
  const isOfUser = submits.path.startsWith('/users/:id');
  const path = (isOfUser ? `${USER}/:id/${name}` : `${LIST}/${name}`) as Route['path'];
  const pageOf = (ctx: Context): string => (isOfUser ? `${USER}/${encodeURIComponent(ctx.params.id)}` : LIST);
  const saying = (ctx: Context, page: string, said: Omit<FormOutcome, 'form'>): string => {
    const text = JSON.stringify({ operator: operatorOf(ctx), said: { form: name, ...said } });
    const sealed = deps.secrets.encrypt(text, deps.clock.now() + SAID_LIFETIME);
    return `${pathIn(deps.site, page)}?${new URLSearchParams({ said: sealed })}`;
  };
  return {
    ...submits,
    name: `office-${name}-form`,
    tag: 'pages',
    method: 'POST',
    path,
    visitor: true,
    errorPages: true,
    request: { query: confirm === undefined ? v.strictObject({}) : v.strictObject({ confirm: v.literal(confirm) }) },
    httpStatuses: new Set([...submits.httpStatuses, 415]),
    form: {
      submits,
      page: isOfUser ? USER : LIST,
      succeeded: async (ctx) => {
        const { id, url } = (ctx.state.payload ?? {}) as { readonly id?: string; readonly url?: string | null };
        const page = leadsTo === 'user' ? `${USER}/${id}` : leadsTo === 'list' ? LIST : pageOf(ctx);
        return saying(ctx, page, { problems: null, typed: {}, url: url ?? undefined });
      },
    },
    failed: async (ctx, error) => {
      const form = ctx.state.form;
      if (form === undefined || ctx.state.operator === undefined || error.status >= 500) return null;
      const typed = [...form].map(([field, text]) => [field, text.slice(0, TYPED_MAX_LENGTH)]);
      return saying(ctx, pageOf(ctx), { problems: problemsOf(error), typed: Object.fromEntries(typed) });
    },
  };
};

const problemsOf = ({ message, details }: AppError): readonly string[] =>
  details === null || details.length === 0 ? [message] : details.map((each) => `${each.field} ${each.message}`);

/** What a form has said to this operator within the last minute. */
const saidIn = ({ secrets, clock }: PagesDeps, ctx: Context, sealed: string | undefined): FormOutcome | null => {
  const text = sealed === undefined ? null : secrets.decrypt(sealed, clock.now());
  const { operator, said } = JSON.parse(text ?? '{}');
  return operator === operatorOf(ctx) ? said : null;
};
