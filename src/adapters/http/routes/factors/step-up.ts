import * as v from 'valibot';
import { stepUp } from '../../../../application/factors/step-up.ts';
import type { Service } from '../../../../application/service.ts';
import { Code, CurrentPassword, Proof } from '../../../json/fields.ts';
import { RefreshResult } from '../../../json/tokens.ts';
import { RequestValidationFailure } from '../../errors/exceptions.ts';
import { originOf } from '../../request/client.ts';
import { type DeviceAccess, PROOF_ERRORS } from '../../request/device-access.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { UsedCredential } from './passkey-credentials.ts';

type OneOf<Members> = { [Name in keyof Members]-?: Readonly<Record<Name, NonNullable<Members[Name]>>> }[keyof Members];

/** What shows a factor in a body. @throws RequestValidationFailure when it has none or several of the members. */
export const shownFactor = <Members extends object>(members: Members): OneOf<Members> => {
  const shown = Object.entries(members).filter(([, value]) => value !== undefined);
  if (shown.length === 1) return Object.fromEntries(shown) as OneOf<Members>;
  const message = `must have one of ${Object.keys(members).join(', ')}`;
  throw new RequestValidationFailure([{ field: 'body', message, code: shown.length === 0 ? 'required' : 'unknown' }]);
};

/** The handler accepts exactly one of the members, besides the proof. */
const StepUpBody = v.pipe(
  v.object({
    password: v.optional(CurrentPassword),
    code: v.optional(Code),
    credential: v.optional(UsedCredential),
    proof: v.optional(Proof),
  }),
  v.examples([{ password: 'correct horse' }]),
);

/** The user of a session shows something again. RFC 9470, ADR 0009. */
export const stepUpRoute = (deps: Service, { cookie, device }: DeviceAccess): Route =>
  route(
    {
      name: 'step-up',
      tag: 'sessions',
      summary: 'Show the password or a factor again, for a route that requires it',
      method: 'POST',
      path: '/auth/step-up',
      throttle: 'strict',
      cookie: { writes: 'access' },
      request: { body: StepUpBody },
      response: { data: RefreshResult },
      errors: [
        ...(['AUTH_CREDENTIALS_INVALID', 'AUTH_SECOND_FACTOR_INVALID', 'AUTH_PASSKEY_INVALID'] as const),
        ...PROOF_ERRORS,
        ...(['DB_UNIQUE_VIOLATION', 'SYS_HOOK_UNAVAILABLE'] as const),
      ],
    },
    async ({ claims, caller, body: { password, code, credential, proof } }, ctx) => {
      const factor = shownFactor({ password, code, credential });
      const evidence = { factor, presented: device(ctx, proof), origin: originOf(ctx) };
      const accessToken = await stepUp(deps)({ ...caller, tokenIssuedAt: claims.iat, ...evidence });
      cookie.setAccess(ctx, accessToken);
      return { accessToken };
    },
  );
