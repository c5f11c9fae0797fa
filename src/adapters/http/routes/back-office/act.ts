import type { Context } from 'koa';
import type * as v from 'valibot';
import type { LoginAttempts } from '../../../../application/ports/login-attempts.ts';
import type { Core } from '../../../../application/service.ts';
import type { Attributes } from '../../../../domain/attributes.ts';
import { AppError } from '../../../../domain/errors/app-error.ts';
import type { ErrorCode } from '../../../../domain/errors/catalog.ts';
import { type Origin, UNKNOWN_DEVICE } from '../../../../domain/event.ts';
import { isOperator, isScope, type OperatorRule } from '../../../../domain/operator.ts';
import { IdParams } from '../../../json/fields.ts';
import { validationFailure } from '../../errors/exceptions.ts';
import type { ActForm, PageView } from '../../pages/office/view.ts';
import { NO_DATA, type QuerySchema, type Route, type RouteHead, route } from '../../routing/define-route.ts';

/** What the acts of operators need. */
export type ActDeps = Core & {
  /** `null`: each instance counts by itself. */
  readonly attempts: Pick<LoginAttempts, 'forget'> | null;
  /** Below it, links find their pages. */
  readonly accountPagesUrl: string;
  readonly hasMail: boolean;
  /** Users whom only commands change. Default: none. */
  readonly operators?: readonly OperatorRule[];
};

type Schema = v.GenericSchema<unknown, unknown>;
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
  /** Default: it says nothing more. */
  readonly data?: Data;
  readonly status?: number;
  readonly errors?: readonly ErrorCode[];
  /** What it cannot do without. */
  readonly needs?: 'mail' | 'attempts';
  /** When it sends a mail, and the member of the body that prevents it by this value. */
  readonly mails?: { if(body: Output<Body>): boolean; readonly unless: readonly [string, boolean] };
  /** Whether operators do it to each other as well: it gives nobody what is theirs. */
  readonly onOperators?: true;
  /** What refuses it before anything is done. @throws AppError */
  check?(deps: ActDeps, input: ActInput<Body, Params, Query>): void | Promise<void>;
  run(deps: ActDeps, input: ActInput<Body, Params, Query>, origin: Origin): Promise<v.InferInput<Data>>;
  /** Of the pages for people. Without one, they cannot do it. */
  readonly form?: ActForm;
  /** The page of what is read, and its name in the navigation. */
  readonly page?: {
    readonly path: `/office${string}`;
    readonly name: string;
    /** The ids of the users whom it names. */
    about?(data: v.InferInput<Data>): readonly string[];
    show(view: PageView, data: v.InferInput<Data>, query: Output<Query>): string;
  };
  /** Of `users`. Without one, it has none. */
  readonly command?: ActCommand;
};

type ActCommand = {
  readonly name: string;
  /** Cannot be undone: it asks before. */
  readonly isFinal?: true;
  /** The name that its report gives to the answer. Default: the members of the answer are members of the report. */
  readonly as?: string;
  /** What it says when it is done, besides the answer. */
  readonly says?: string;
};

/** What an operator can do. Its route, its form, and its command follow from it. */
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

/** Refuses what would fail, or send a mail without mail. @param input that the schemas have checked @throws AppError */
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

/** Whoever may write could make somebody an operator, or take the account of one over. @throws AppError 403 */
const assertNotAboutOperator = async (
  { at, onOperators }: Act,
  { users, operators = [] }: ActDeps,
  { id, body }: CheckedInput,
): Promise<void> => {
  if (operators.length === 0 || onOperators || at.startsWith('GET ')) return;
  const user = typeof id === 'string' ? await users.findById(id) : null;
  const { attributes = {} } = (body ?? {}) as { readonly attributes?: Attributes };
  if (![user?.attributes ?? {}, attributes].some((each) => isOperator(operators, each))) return;
  const message = 'It is about an operator of ADMIN_USERS. The command `npx tandem users` can do it.';
  throw new AppError('SYS_HTTP_UNEXPECTED_ERROR', { status: 403, level: 'warn', reason: 'an operator', message });
};

/** @throws AppError */
export const perform = async (act: Act, deps: ActDeps, input: CheckedInput, origin: Origin): Promise<unknown> => {
  await assertPossible(act, deps, input);
  return act.run(deps, input, origin);
};

/** The routes for programs. A `GET` needs the scope that reads, all others the one that writes. */
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

/** A call of a program, for the audit log. */
type OperatorCall = { readonly actor: string; readonly call: string; readonly userId?: string };

/** Requests of one program to one route in a minute. */
const REQUESTS_PER_PROGRAM = 3_000;

/**
 * The routes, as programs and people may call them: each call is in the audit log, also one that changes nothing. What a form does is there by the
 * route that it submits to.
 */
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

const actorOf = ({ state: { operator } }: Context): string => operator?.name ?? 'unknown';

/** Where a change by an operator came from. Users see their events: the device of the program would tell them nothing. */
export const originOfOperator = (ctx: Context): Origin => ({
  ...UNKNOWN_DEVICE,
  requestId: ctx.request.id,
  actor: actorOf(ctx),
});
