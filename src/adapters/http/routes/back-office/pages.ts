import type { Context } from 'koa';
import * as v from 'valibot';
import { accountData, existingUser, listEventsAsOperator } from '../../../../application/accounts/account-data.ts';
import type { Secrets } from '../../../../application/ports/secrets.ts';
import type { Service } from '../../../../application/service.ts';
import { AppError } from '../../../../domain/errors/app-error.ts';
import { isScope } from '../../../../domain/operator.ts';
import { deviceNames } from '../../../json/device-names.ts';
import { Id, IdParams } from '../../../json/fields.ts';
import { pagePolicy, pageResponse } from '../../documents.ts';
import { memberNames } from '../../forms/form-validation.ts';
import { pathIn, type Site } from '../../pages/layout.ts';
import { userPage } from '../../pages/office/user.ts';
import { type ActForm, type FormOutcome, type OfficeForm, type PageView, USERNAME } from '../../pages/office/view.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { type Act, type ActDeps, actorOf, originOfOperator, performAct, problemsOf } from './act.ts';
import { ACTS } from './acts.ts';

const USER_PATH = '/office/users/:id';
const PAGE_SIZE = 50;
const OUTCOME_LIFETIME = 60_000;
/** Characters of a text that a form fills in again after an error. */
const TYPED_MAX_LENGTH = 300;

type PagesDeps = ActDeps & {
  readonly secrets: Secrets;
  readonly providers: Service['providers'];
  readonly site: Site;
  /** The routes of the back office, to which the forms submit. */
  readonly api: readonly Route[];
  readonly reads: Readonly<Record<string, Act>>;
  readonly logOutUrl: PageView['logOutUrl'];
};

/** `userId`: the user whom the page is about, or empty. `namedIds`: the users whose usernames the page shows. */
type ViewParts = Pick<PageView, 'suggestions'> & { readonly userId: string; readonly namedIds: readonly string[] };

/**
 * The pages for people, and their forms. The outcome of a form is in the URL of the next page, encrypted for its operator, for a minute: a link of
 * somebody else cannot make a page show a false outcome.
 */
export const officeRoutes = (deps: PagesDeps): Route[] => {
  const { site, api, secrets, providers, reads } = deps;
  const apiRoute = (name: string) => api.find((each) => each.name === `operators-${name}`);
  const forms = Object.entries<Act>(ACTS).flatMap(([name, { body, form, mail }]) => {
    const submits = apiRoute(name);
    const members = memberNames(body).filter((each) => each !== 'handOver' || deps.resetLinkHandOver === 'on');
    const canSubmit = deps.hasMail || mail === undefined || members.includes(mail.preventedBy[0]);
    return form === undefined || submits === undefined || !canSubmit
      ? []
      : [{ ...form, name, members, route: formRoute(deps, name, form, submits) }];
  });
  const nameOfDevice = deviceNames();
  const usernamesOf = async (ids: readonly string[]): Promise<PageView['usernames']> => {
    const users = await Promise.all([...new Set(ids)].map((id) => deps.users.findById(id)));
    return new Map(users.flatMap((user) => (user === null ? [] : [[user.id, user.username]])));
  };
  const viewOf = async (ctx: Context, sealed: string | undefined, { userId, namedIds, suggestions }: ViewParts) => ({
    site,
    operator: actorOf(ctx),
    once: secrets.random(),
    logOutUrl: deps.logOutUrl,
    outcome: outcomeOf(deps, ctx, sealed),
    forms: new Map<string, OfficeForm>(
      forms
        .filter(({ route }) => isScope(route.auth) && ctx.state.operator?.scopes.includes(route.auth))
        .map((form) => [form.name, { ...form, action: pathIn(site, form.route.path.replace(':id', userId)) }]),
    ),
    usernames: await usernamesOf(namedIds),
    providers: [...providers.keys()],
    deviceNames: await nameOfDevice,
    suggestions,
  });
  const readRoutes = Object.entries(reads).flatMap(([name, read]) => {
    const { page, query } = read;
    if (page === undefined || apiRoute(name) === undefined) return [];
    return route({
      ...PAGE_ROUTE,
      name: `office-${name}`,
      at: `GET ${page.path}`,
      summary: page.name,
      request: { query: pageQuery(query) },
      handler: async ({ query: { said, ...ownQuery } }, ctx) => {
        const input = { ...(memberNames(query).includes('limit') && { limit: PAGE_SIZE }), ...ownQuery };
        const data = await performAct(read, deps, { query: input, body: undefined }, originOfOperator(ctx));
        const suggestions = (await page.suggestions?.(deps)) ?? [];
        const parts = { userId: '', namedIds: page.userIds?.(data) ?? [], suggestions };
        return page.render(await viewOf(ctx, said as string | undefined, parts), data, ownQuery);
      },
    });
  });
  const userRoute = route({
    ...{ ...PAGE_ROUTE, name: 'office-user', at: `GET ${USER_PATH}`, summary: 'Return the page of a user' },
    request: { params: IdParams, query: v.looseObject({ before: v.optional(Id), said: SealedOutcome }) },
    handler: async ({ params: { id }, query: { before = null, said } }, ctx) => {
      const data = await accountData(deps, await existingUser(deps, id), deps.clock.now());
      const eventsPage = await listEventsAsOperator(deps)(id, { before, limit: PAGE_SIZE });
      return userPage(await viewOf(ctx, said, { userId: id, namedIds: [], suggestions: [] }), { data, ...eventsPage });
    },
  });
  return [...readRoutes, userRoute, ...exportRoute(apiRoute('export-user')), ...forms.map(({ route }) => route)];
};

const exportRoute = (exportApi: Route | undefined): Route[] =>
  exportApi === undefined
    ? []
    : [
        {
          ...exportApi,
          ...{ name: 'office-export', tag: 'pages', path: `${USER_PATH}/export`, visitor: true, errorPages: true },
          handler: (input, ctx) => {
            ctx.set('Content-Disposition', `attachment; filename="${ctx.params.id}.json"`);
            return exportApi.handler(input, ctx);
          },
        },
      ];

/** The query of a page that reads: that of the route for programs, with fields that a form may leave empty. */
const pageQuery = (query: Act['query']) => {
  const emptyField = v.pipe(
    v.literal(''),
    v.transform(() => undefined),
  );
  const entries = Object.entries(query !== undefined && 'entries' in query ? (query.entries as v.ObjectEntries) : {});
  const members = entries.map(([name, schema]) => [name, v.optional(v.union([emptyField, schema]))]);
  return v.looseObject({ ...(Object.fromEntries(members) as v.ObjectEntries), said: SealedOutcome });
};

const SealedOutcome = v.optional(v.pipe(v.string(), v.maxLength(4_000)));

const PAGE_ROUTE = {
  tag: 'back-office',
  auth: 'users:read',
  visitor: true,
  errorPages: true,
  response: pageResponse(pagePolicy({ 'form-action': "'self'" })),
} as const;

/** The route to which browsers post a form. It identifies people instead of programs, and then does what the route `submits` does. */
const formRoute = (deps: PagesDeps, name: string, { confirm, page, leadsTo }: ActForm, submits: Route): Route => {
  const userPath = (id: string) => USER_PATH.replace(':id', encodeURIComponent(id));
  const pageOf = (ctx: Context): string => page ?? userPath(ctx.params.id);
  const withOutcome = (ctx: Context, to: string, outcome: Omit<FormOutcome, 'form'>): string => {
    const text = JSON.stringify({ operator: actorOf(ctx), outcome: { form: name, ...outcome } });
    const sealed = deps.secrets.encrypt(text, deps.clock.now() + OUTCOME_LIFETIME);
    return `${pathIn(deps.site, to)}?${new URLSearchParams({ said: sealed })}`;
  };
  return {
    ...submits,
    name: `office-${name}-form`,
    tag: 'pages',
    method: 'POST',
    path: `${page ?? USER_PATH}/${name}` as Route['path'],
    visitor: true,
    errorPages: true,
    request: { query: confirm === undefined ? v.strictObject({}) : v.strictObject({ confirm: v.string() }) },
    httpStatuses: new Set([...submits.httpStatuses, 415]),
    form: {
      submits,
      page: page ?? USER_PATH,
      successLocation: async (ctx) => {
        const { id, url } = (ctx.state.payload ?? {}) as { readonly id?: string; readonly url?: string | null };
        const next = leadsTo === 'user' ? userPath(`${id}`) : leadsTo === 'list' ? '/office/users' : pageOf(ctx);
        return withOutcome(ctx, next, { problems: null, typed: {}, url: url ?? undefined });
      },
    },
    handler: async (input, ctx) => {
      const word = confirm === USERNAME ? (await existingUser(deps, ctx.params.id)).username : confirm;
      // The message has no username, since it is logged.
      const message = `Type ${confirm === USERNAME ? 'the username' : `“${word}”`} to confirm.`;
      if (word !== undefined && ctx.state.form?.get('confirm') !== word)
        throw new AppError('CLIENT_PARAMS_VALIDATION_FAILED', { message });
      return submits.handler(input, ctx);
    },
    errorLocation: async (ctx, error) => {
      const form = ctx.state.form;
      if (form === undefined || ctx.state.operator === undefined || error.status >= 500) return null;
      const typed = [...form].map(([field, text]) => [field, text.slice(0, TYPED_MAX_LENGTH)]);
      return withOutcome(ctx, pageOf(ctx), { problems: problemsOf(error), typed: Object.fromEntries(typed) });
    },
  };
};

/** The outcome of a form; `null` if the form was not sent by this operator within the last minute. */
const outcomeOf = ({ secrets, clock }: PagesDeps, ctx: Context, sealed: string | undefined): FormOutcome | null => {
  const text = sealed === undefined ? null : secrets.decrypt(sealed, clock.now());
  const { operator, outcome } = JSON.parse(text ?? '{}');
  return operator === actorOf(ctx) ? outcome : null;
};
