import type { Middleware } from 'koa';
import type { Route } from '../routing/define-route.ts';

const NO_INPUT = { body: undefined, query: undefined, params: undefined };
const NEVER = new AbortController().signal;

/** The end of the pipeline: calls the route's handler. */
export const handle = ({ handler }: Route): Middleware =>
  async function handle(ctx) {
    const { jwtClaim, sessionId } = ctx.request;
    const { input = NO_INPUT, signal = NEVER } = ctx.state;
    ctx.state.payload = await handler({ ...input, claims: jwtClaim, sessionId, signal }, ctx);
  };
