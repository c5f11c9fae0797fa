import * as v from 'valibot';
import { type AdoptDeps, adopt } from '../../../../application/login/adopt.ts';
import { Proof } from '../../../json/fields.ts';
import { httpFailure } from '../../errors/exceptions.ts';
import { type DeviceAccess, loginSourceOf } from '../../request/device-access.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { handOver, loginErrors, OPENS_SESSION } from './login.ts';

const AdoptBody = v.pipe(
  v.object({ assertion: v.pipe(v.string(), v.minLength(1), v.maxLength(4_096)), proof: v.optional(Proof) }),
  v.examples([{ assertion: 'eyJ0eXAiOiJhZG9wdGlvbitqd3QiLCJhbGciOiJFUzI1NiJ9…' }]),
);

/**
 * Takes sessions of the former system over. JSON alone: the form of another site cannot log its visitor in as somebody else, and what its scripts send
 * has an `Origin` that is not allowed.
 * @param endsAt epoch milliseconds; `null`: never.
 */
export const adoptRoute = (deps: AdoptDeps, access: DeviceAccess, endsAt: number | null): Route =>
  route(
    {
      ...OPENS_SESSION,
      name: 'adopt',
      summary: 'Open a session for a user for whom the former system vouches',
      path: '/auth/adopt',
      throttle: 'global',
      request: { body: AdoptBody },
      errors: loginErrors(deps, 'AUTH_ASSERTION_INVALID', 'AUTH_SECOND_FACTOR_REQUIRED'),
      httpStatuses: [404],
    },
    async ({ body, signal }, ctx) => {
      if (endsAt !== null && deps.clock.now() >= endsAt) throw httpFailure(404, { reason: 'ADOPTION_ENDS has passed' });
      const input = { ...body, ...loginSourceOf(ctx, access, body.proof) };
      return handOver(ctx, access, await adopt(deps)(input, signal));
    },
  );
