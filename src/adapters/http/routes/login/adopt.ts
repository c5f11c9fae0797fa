import * as v from 'valibot';
import { type AdoptDeps, adopt } from '../../../../application/login/adopt.ts';
import { Proof } from '../../../json/fields.ts';
import { httpFailure } from '../../errors/exceptions.ts';
import { originOf } from '../../request/client.ts';
import { type Route, route } from '../../routing/define-route.ts';
import type { DeviceAccess } from '../sessions/refresh.ts';
import { handOver, LoginResult, loginErrors, loginSourceOf, OPENS_SESSION, ownCookies } from './login.ts';

const AdoptBody = v.pipe(
  v.object({ assertion: v.pipe(v.string(), v.minLength(1), v.maxLength(4_096)), proof: v.optional(Proof) }),
  v.examples([{ assertion: 'eyJ0eXAiOiJhZG9wdGlvbitqd3QiLCJhbGciOiJFUzI1NiJ9…' }]),
);

/**
 * Takes sessions of the former system over. JSON alone: the form of another site cannot log its visitor in as somebody else, and what its scripts send
 * has an `Origin` that is not allowed.
 * @param endsAt epoch milliseconds; `null`: never.
 */
export const adoptRoute = (deps: AdoptDeps, access: DeviceAccess, endsAt: number | null): Route => {
  const open = adopt(deps);
  return route(
    {
      ...OPENS_SESSION,
      name: 'adopt',
      summary: 'Open a session for a user for whom the former system vouches',
      path: '/auth/adopt',
      request: { body: AdoptBody },
      response: { data: LoginResult },
      errors: loginErrors(deps, 'AUTH_ASSERTION_INVALID', 'AUTH_SECOND_FACTOR_REQUIRED'),
      httpStatuses: [404],
    },
    async ({ body: { assertion, proof }, signal }, ctx) => {
      if (endsAt !== null && deps.clock.now() >= endsAt) throw httpFailure(404, { reason: 'ADOPTION_ENDS has passed' });
      const { rememberedDevices } = ownCookies(ctx, access);
      const { refreshTokens } = loginSourceOf(ctx, access);
      const shown = { assertion, rememberedDevices, refreshTokens };
      const input = { ...shown, presented: access.device(ctx, proof), origin: originOf(ctx) };
      return handOver(ctx, access, await open(input, signal));
    },
  );
};
