import type { Context } from 'koa';
import { type Origin, UNKNOWN_DEVICE } from '../../../../domain/event.ts';
import { isScope } from '../../../../domain/operator.ts';
import type { Route } from '../../routing/define-route.ts';

/** A call of a program, for the audit log. */
export type OperatorCall = { readonly actor: string; readonly call: string; readonly userId?: string };

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
