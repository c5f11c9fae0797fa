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
  /** `null`: each instance counts by itself. */
  readonly attempts: Pick<LoginAttempts, 'forget'> | null;
  /** The URL of the pages of links in mails. */
  readonly accountPagesUrl: string;
  readonly hasMail: boolean;
  /** The rules for users who are operators themselves. Default: none. */
  readonly adminUsers?: readonly OperatorRule[];
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
  /** Default: the id of the user, if the path has one. */
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** Default: `null`. */
  readonly data?: Data;
  readonly status?: number;
  readonly errors?: readonly ErrorCode[];
  /** The service may lack it. */
  readonly needs?: 'mail' | 'attempts';
  /** Whether it sends a mail, and the member of the body that prevents the mail by this value. */
  readonly mails?: { if(body: Output<Body>): boolean; readonly unless: readonly [string, boolean] };
  /** Whether an operator may do it to another one. It must not let anybody take over the account. */
  readonly onOperators?: true;
  /** @throws AppError before anything is done */
  check?(deps: ActDeps, input: ActInput<Body, Params, Query>): void | Promise<void>;
  run(deps: ActDeps, input: ActInput<Body, Params, Query>, origin: Origin): Promise<v.InferInput<Data>>;
  /** Default: people cannot do it on the pages. */
  readonly form?: ActForm;
  /** The page that shows the data, with its name in the navigation. */
  readonly page?: {
    readonly path: `/office${string}`;
    readonly name: string;
    /** The ids of the users whom it names. */
    about?(data: v.InferInput<Data>): readonly string[];
    suggests?(deps: ActDeps): Promise<readonly string[]>;
    show(view: PageView, data: v.InferInput<Data>, query: Output<Query>): string;
  };
  /** The subcommand of `users`. Default: none. */
  readonly command?: {
    readonly name: string;
    /** It cannot be undone, so the command asks before. */
    readonly isFinal?: true;
    /** The member of the command's report that has the data. Default: the members of the data are members of the report. */
    readonly as?: string;
    /** A sentence for the end of the report. */
    readonly says?: string;
  };
};

/** Something that an operator can do. Its route, its form, and its command are made from it. */
export type Act = Declaration<Schema | undefined, Schema, Schema, QuerySchema | undefined> & { readonly data: Schema };

export const act = <
  Data extends Schema = typeof NO_DATA,
  Body extends Schema | undefined = undefined,
  Params extends Schema = typeof IdParams,
  Query extends QuerySchema | undefined = undefined,
>(
  declaration: Declaration<Body, Data, Params, Query>,
): Act => ({ data: NO_DATA, ...declaration });

type CheckedInput = Parameters<Act['run']>[1] & { readonly [param: string]: unknown };

/** @param input that the schemas have checked @throws AppError for an act that would fail, or send a mail that the service cannot send */
export const assertPossible = async (act: Act, deps: ActDeps, input: CheckedInput): Promise<void> => {
  const { mails, check } = act;
  if (!deps.hasMail && mails?.if(input.body)) {
    const [field, value] = mails.unless;
    const details = [{ field, code: 'invalid_value', message: `must be ${value}: the service sends no mail` }] as const;
    throw validationFailure(details);
  }
  await assertNotAboutOperator(act, deps, input);
  await check?.(deps, input);
};

/** Without this check, an operator could make somebody an operator, or take the account of one over. @throws AppError 403 */
const assertNotAboutOperator = async (
  { at, onOperators }: Act,
  { users, adminUsers = [] }: ActDeps,
  { id, body }: CheckedInput,
): Promise<void> => {
  if (adminUsers.length === 0 || onOperators || at.startsWith('GET ')) return;
  const user = typeof id === 'string' ? await users.findById(id) : null;
  const { attributes = {} } = (body ?? {}) as { readonly attributes?: Attributes };
  if (![user?.attributes ?? {}, attributes].some((each) => isOperator(adminUsers, each))) return;
  const message = 'It is about an operator of ADMIN_USERS. The command `npx tandem users` can do it.';
  throw new AppError('SYS_HTTP_UNEXPECTED_ERROR', { status: 403, level: 'warn', reason: 'an operator', message });
};

/** @throws AppError */
export const perform = async (act: Act, deps: ActDeps, input: CheckedInput, origin: Origin): Promise<unknown> => {
  await assertPossible(act, deps, input);
  return act.run(deps, input, origin);
};

/** The routes for programs. */
export const actRoutes = (acts: Readonly<Record<string, Act>>, deps: ActDeps): Route[] =>
  Object.entries(acts).flatMap(([name, declaration]) => {
    const { at, summary, description, params = IdParams, query, body, data, errors = [], needs } = declaration;
    if (needs === 'mail' && !deps.hasMail) return [];
    return route({
      ...{ name: `operators-${name}`, tag: 'back-office', at, summary, errors },
      auth: at.startsWith('GET ') ? 'users:read' : 'users:write',
      ...(description !== undefined && { description }),
      request: { ...(at.includes(':') && { params }), ...(query && { query }), ...(body && { body }) },
      response: { status: declaration.status ?? 200, data },
      handler: ({ params, query, body }, ctx) =>
        perform(declaration, deps, { ...(params as object), query, body }, originOfOperator(ctx)),
    });
  });

/** An entry of the audit log. */
type OperatorCall = { readonly actor: string; readonly call: string; readonly userId?: string };

/** A minute, for each route. */
const REQUESTS_PER_PROGRAM = 3_000;

/** Writes each call to the audit log, even if it changes nothing. Forms are written by the routes that they submit to. */
export const audited = (routes: readonly Route[], onCall: (call: OperatorCall) => void): Route[] =>
  routes.map((each) =>
    isScope(each.auth) && each.form === undefined
      ? {
          ...each,
          requestsPerUser: REQUESTS_PER_PROGRAM,
          handler: (input, ctx) => {
            const { id } = ctx.params;
            onCall({ actor: actorOf(ctx), call: each.name, ...(id !== undefined && { userId: id }) });
            return each.handler(input, ctx);
          },
        }
      : each,
  );

export const actorOf = ({ state: { operator } }: Context): string => operator?.name ?? 'unknown';

/** The origin of a change by an operator. Users see their events: the device of the operator would tell them nothing. */
export const originOfOperator = (ctx: Context): Origin => ({
  ...UNKNOWN_DEVICE,
  requestId: ctx.request.id,
  actor: actorOf(ctx),
});
