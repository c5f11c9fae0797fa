import type { Context } from 'koa';
import type * as v from 'valibot';
import type { LoginAttempts } from '../../../../application/ports/login-attempts.ts';
import type { Core } from '../../../../application/service.ts';
import type { Attributes } from '../../../../domain/attributes.ts';
import { UNKNOWN_DEVICE } from '../../../../domain/device.ts';
import { AppError } from '../../../../domain/errors/app-error.ts';
import type { ErrorCode } from '../../../../domain/errors/catalog.ts';
import type { Origin } from '../../../../domain/event.ts';
import { isOperator, isScope, type OperatorRule } from '../../../../domain/operator.ts';
import { IdParams } from '../../../json/fields.ts';
import { validationFailure } from '../../errors/exceptions.ts';
import type { ActForm, PageView } from '../../pages/office/view.ts';
import { NO_DATA, type QuerySchema, type Route, type RouteHead, route } from '../../routing/define-route.ts';

export type ActDeps = Core & {
  /** The counts of wrong passwords; `null`: they are in the memory of the service, which a command cannot reach. */
  readonly attempts: Pick<LoginAttempts, 'forget'> | null;
  /** The URL of the pages for links in mails, to which the purpose of a link is appended. */
  readonly accountPagesUrl: string;
  readonly hasMail: boolean;
  /** The rules of ADMIN_USERS, by which users are operators themselves. Default: none. */
  readonly adminUsers?: readonly OperatorRule[];
  /** Whether operators may get a link that sets a password, so that they could choose the password themselves. Default: they may not. */
  readonly resetLinkHandOver?: 'on' | 'off';
};

type Schema = v.GenericSchema;
type Output<S> = S extends Schema ? v.InferOutput<S> : undefined;

type ActInput<Body, Params, Query> = Output<Params> & { readonly body: Output<Body>; readonly query: Output<Query> };

type Declaration<
  Body extends Schema | undefined,
  Data extends Schema,
  Params extends Schema,
  Query extends QuerySchema | undefined,
> = Omit<RouteHead, 'name'> & {
  /** Default: the id of a user or a webhook, if the path has one. */
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  readonly data?: Data;
  readonly status?: number;
  readonly errors?: readonly ErrorCode[];
  /** What the act needs. Without `mail`, it has no route and no form. The command fails without what it needs. */
  readonly requires?: 'mail' | 'attempts';
  /** Whether a request needs to send a mail, and the member of the body with the value for which it need not. */
  readonly mail?: { isSent(body: Output<Body>): boolean; readonly preventedBy: readonly [string, boolean] };
  /** Whether the act may be about a user who is an operator. Such an act must not let anybody take over the account. */
  readonly mayConcernOperators?: true;
  /** What is checked before the act changes anything, also for `--dry-run` of the command. @throws AppError */
  check?(deps: ActDeps, input: ActInput<Body, Params, Query>): void | Promise<void>;
  execute(deps: ActDeps, input: ActInput<Body, Params, Query>, origin: Origin): Promise<v.InferInput<Data>>;
  /** Default: the pages of the back office have no form for the act. */
  readonly form?: ActForm;
  /** The page that shows the data, with its name in the navigation. */
  readonly page?: {
    readonly path: `/office${string}`;
    readonly name: string;
    /** The ids of the users whom the page names. */
    userIds?(data: v.InferInput<Data>): readonly string[];
    /** The values that the filter of the page suggests. */
    suggestions?(deps: ActDeps): Promise<readonly string[]>;
    render(view: PageView, data: v.InferInput<Data>, query: Output<Query>): string;
  };
  /** The subcommand of `users`. Default: none. */
  readonly command?: {
    readonly name: string;
    /** Without `--yes`, the command asks for confirmation, since what the act ends or deletes does not come back. */
    readonly isFinal?: true;
    /** The member of the command's JSON that has the data. Default: the JSON has the members of the data themselves. */
    readonly reportMember?: string;
    /** A sentence at the end of what the command says without `--json`, if the act has changed something. */
    readonly note?: string;
  };
};

/** Something that an operator can read or do. Its route, its form and its command follow from the declaration. */
export type Act = Declaration<Schema | undefined, Schema, Schema, QuerySchema | undefined> & { readonly data: Schema };

export const act = <
  Data extends Schema = typeof NO_DATA,
  Body extends Schema | undefined = undefined,
  Params extends Schema = typeof IdParams,
  Query extends QuerySchema | undefined = undefined,
>(
  declaration: Declaration<Body, Data, Params, Query>,
): Act => ({ data: NO_DATA, ...declaration });

type CheckedInput = Parameters<Act['execute']>[1] & { readonly [param: string]: unknown };

/** @param input the output of the act's schemas @throws AppError for instance if the act would send a mail, and the service sends none */
export const assertPossible = async (act: Act, deps: ActDeps, input: CheckedInput): Promise<void> => {
  const { mail, check } = act;
  if (!deps.hasMail && mail?.isSent(input.body)) {
    const [field, value] = mail.preventedBy;
    throw invalidMember(field, `must be ${value}: the service sends no mail`);
  }
  await assertNotAboutOperator(act, deps, input);
  await check?.(deps, input);
};

export const invalidMember = (field: string, message: string) =>
  validationFailure([{ field, code: 'invalid_value', message }]);

export const problemsOf = ({ message, details }: AppError): readonly string[] =>
  details === null || details.length === 0 ? [message] : details.map((each) => `${each.field} ${each.message}`);

/** Without this check, an operator could make a user an operator, or take over the account of an operator. @throws AppError 403 */
const assertNotAboutOperator = async (
  { at, mayConcernOperators }: Act,
  { users, adminUsers = [] }: ActDeps,
  { id, body }: CheckedInput,
): Promise<void> => {
  if (adminUsers.length === 0 || mayConcernOperators || at.startsWith('GET ')) return;
  const user = typeof id === 'string' ? await users.findById(id) : null;
  const { attributes = {} } = (body ?? {}) as { readonly attributes?: Attributes };
  if (![user?.attributes ?? {}, attributes].some((each) => isOperator(adminUsers, each))) return;
  const message = 'It is about an operator of ADMIN_USERS. The command `npx tandem users` can do it.';
  throw new AppError('SYS_HTTP_UNEXPECTED_ERROR', { status: 403, level: 'warn', reason: 'an operator', message });
};

export const performAct = async (act: Act, deps: ActDeps, input: CheckedInput, origin: Origin): Promise<unknown> => {
  await assertPossible(act, deps, input);
  return act.execute(deps, input, origin);
};

/** The routes of acts, for programs. */
export const actRoutes = (acts: Readonly<Record<string, Act>>, deps: ActDeps): Route[] =>
  Object.entries(acts).flatMap(([name, declaration]) => {
    const { at, summary, description, params = IdParams, query, body, data, errors = [], requires } = declaration;
    if (requires === 'mail' && !deps.hasMail) return [];
    return route({
      ...{ name: `operators-${name}`, tag: 'back-office', at, summary, errors },
      auth: at.startsWith('GET ') ? 'users:read' : 'users:write',
      ...(description !== undefined && { description }),
      request: { ...(at.includes(':') && { params }), ...(query && { query }), ...(body && { body }) },
      response: { status: declaration.status ?? 200, data },
      handler: ({ params, query, body }, ctx) =>
        performAct(declaration, deps, { ...(params as object), query, body }, originOfOperator(ctx)),
    });
  });

/** An entry of the audit log. */
type OperatorCall = { readonly actor: string; readonly call: string; readonly userId?: string };

/** Requests in a minute that one operator, a program or a person, may send to one route. */
const REQUESTS_PER_OPERATOR = 3_000;

/** Reports calls of the handlers of routes with a scope to the audit log (`onCall`). A form or a page made from such a route has its limit, and is not reported again. */
export const withAuditLog = (routes: readonly Route[], onCall: (call: OperatorCall) => void): Route[] =>
  routes.map((each) =>
    isScope(each.auth) && each.requestsPerUser !== REQUESTS_PER_OPERATOR
      ? {
          ...each,
          requestsPerUser: REQUESTS_PER_OPERATOR,
          handler: (input, ctx) => {
            const { id } = ctx.params;
            onCall({ actor: actorOf(ctx), call: each.name, ...(id !== undefined && { userId: id }) });
            return each.handler(input, ctx);
          },
        }
      : each,
  );

export const actorOf = ({ state: { operator } }: Context): string => operator?.name ?? 'unknown';

/** The origin of a change by an operator. It has no device: users see the events of their account, and do not know the operator's device. */
export const originOfOperator = (ctx: Context): Origin => ({
  ...UNKNOWN_DEVICE,
  requestId: ctx.request.id,
  actor: actorOf(ctx),
});
