import * as v from 'valibot';
import { finishLogin, showPendingLogin, startPendingApp } from '../../../../application/factors/finish-login.ts';
import { stepUp } from '../../../../application/factors/step-up.ts';
import type { Service } from '../../../../application/service.ts';
import { PendingLoginJson, StartedAppJson } from '../../../json/factors.ts';
import * as fields from '../../../json/fields.ts';
import { requestOptions, UsedCredential } from '../../../json/passkeys.ts';
import { withRefusalTime } from '../../../limits/time-limits.ts';
import { validationFailure } from '../../errors/exceptions.ts';
import type { UserSite } from '../../pages/layout.ts';
import { cancellationOf, type DeviceAccess, eventOriginOf, loginSourceOf, PROOF_ERRORS } from '../../request/client.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { LOGIN_ROUTE, loginErrors, sendSession } from '../login/login.ts';
import { CODE_REFUSAL_TIME } from '../login/login-by-code.ts';
import { appJson, RecoveryCodesJson } from './factors.ts';

type OneOf<Members> = { [Name in keyof Members]-?: Readonly<Record<Name, NonNullable<Members[Name]>>> }[keyof Members];

/** The only factor in a body. @throws AppError CLIENT_PARAMS_VALIDATION_FAILED if the body has no factor or several */
const presentedFactor = <Members extends object>(members: Members): OneOf<Members> => {
  const presented = Object.entries(members).filter(([, value]) => value !== undefined);
  if (presented.length === 1) return Object.fromEntries(presented) as OneOf<Members>;
  const message = `must have one of ${Object.keys(members).join(', ')}`;
  throw validationFailure([{ field: 'body', message, code: presented.length === 0 ? 'required' : 'unknown' }]);
};

const FACTOR_MEMBERS = {
  code: v.optional(fields.Totp),
  recoveryCode: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(fields.TYPED_CODE_MAX))),
  credential: v.optional(UsedCredential),
};

export const SecondFactorBody = v.pipe(
  v.object({
    ...FACTOR_MEMBERS,
    mailCode: v.optional(fields.MailCode),
    remember: v.optional(v.boolean()),
    proof: v.optional(fields.Proof),
  }),
  v.examples([{ code: '287082', remember: true }]),
);

const FinishedLoginJson = v.object({
  ...fields.LoginResult.entries,
  recoveryCodes: v.optional(RecoveryCodesJson.entries.recoveryCodes),
});

/** Routes that finish a pending log-in, by a second factor or the code for a new device (ADR 0009). */
export const secondFactorRoutes = (deps: Service, deviceAccess: DeviceAccess, { brand }: UserSite): Route[] => {
  const { pendingLogin } = deviceAccess;
  const factorSecrets = deps.secrets.factors;
  return [
    route({
      name: 'pending-login',
      tag: 'tokens',
      summary: 'Return what the pending log-in of the browser waits for',
      description: 'With `enrol: true` the user has no factor, and adds one by `POST /auth/login/pending/totp`.',
      at: 'GET /auth/login/pending',
      auth: 'public',
      response: { data: PendingLoginJson },
      errors: ['AUTH_SECOND_FACTOR_INVALID', 'DB_QUERY_FAILED'],
      handler: async (_input, ctx) => {
        const { challenge, ...pending } = await showPendingLogin(deps)(pendingLogin.read(ctx));
        return { ...pending, passkey: challenge && requestOptions(deps.webauthn, challenge) };
      },
    }),
    route({
      ...LOGIN_ROUTE,
      name: 'second-factor',
      summary: 'Show the second factor of the pending log-in and open a session',
      description:
        'With one of `code`, `recoveryCode`, `credential` and `mailCode`. The log-in waits for five minutes, in one browser. `remember` lets the password alone log in on this device for 30 days.',
      at: 'POST /auth/login/second-factor',
      request: { body: SecondFactorBody },
      response: { data: FinishedLoginJson },
      errors: loginErrors(deps, 'AUTH_SECOND_FACTOR_INVALID', 'AUTH_PASSKEY_INVALID', 'DB_RECORD_NOT_FOUND'),
      handler: async ({ body: { code, recoveryCode, credential, mailCode, remember, proof }, signal }, ctx) => {
        const factor = presentedFactor({ code, recoveryCode, credential, mailCode });
        const input = { factor, remember, ...loginSourceOf(ctx, deviceAccess, proof) };
        const finishing = finishLogin(deps)(input, signal);
        const { opened, recoveryCodes, rememberedDevice } = await (mailCode === undefined
          ? finishing
          : withRefusalTime(CODE_REFUSAL_TIME, finishing));
        const result = await sendSession(ctx, deviceAccess, { ...opened, rememberedDevice });
        pendingLogin.clear(ctx);
        return recoveryCodes === null ? result : { ...result, recoveryCodes };
      },
    }),
    ...(factorSecrets === null
      ? []
      : [
          route({
            name: 'start-pending-totp',
            tag: 'tokens',
            summary: 'Make a secret for an authenticator app, for the pending log-in of a user who has to add a factor',
            description:
              'With SECOND_FACTOR=required. The first code of the app goes to `POST /auth/login/second-factor`: it confirms the app and opens the session.',
            at: 'POST /auth/login/pending/totp',
            auth: 'public',
            throttle: 'strict',
            response: { status: 201, data: StartedAppJson },
            errors: ['AUTH_SECOND_FACTOR_INVALID', 'DB_UNIQUE_VIOLATION', 'DB_QUERY_FAILED'],
            handler: async (_input, ctx) =>
              appJson(await startPendingApp(deps, factorSecrets)(pendingLogin.readOwn(ctx)), brand.name),
          }),
        ]),
  ];
};

/** A body with exactly one factor, as the handler checks. */
const StepUpBody = v.pipe(
  v.object({ password: v.optional(fields.CurrentPassword), ...FACTOR_MEMBERS, proof: v.optional(fields.Proof) }),
  v.examples([{ password: 'correct horse' }]),
);

/** The step-up: the user authenticates again within the session (RFC 9470, ADR 0009). */
export const stepUpRoute = (deps: Service, { cookie, readPresentedDevice }: DeviceAccess): Route =>
  route({
    name: 'step-up',
    tag: 'sessions',
    summary: 'Show the password or a factor again, for a route that requires it',
    description:
      '`WWW-Authenticate` of the refusal says what is missing: `max_age=300` the password, or a passkey whose device verifies its user; `acr_values="aal2"` a code, a recovery code, or a passkey; both of them in two requests, or by one such passkey. Then repeat the request with the new access token. With a `proof`, the session is bound to its key.',
    at: 'POST /auth/step-up',
    throttle: 'strict',
    cookie: { reads: 'optional', writes: 'may-set' },
    request: { body: StepUpBody },
    response: { data: fields.RefreshResult },
    errors: [
      ...(['AUTH_CREDENTIALS_INVALID', 'AUTH_SECOND_FACTOR_INVALID', 'AUTH_PASSKEY_INVALID'] as const),
      ...PROOF_ERRORS,
      'DB_UNIQUE_VIOLATION',
    ],
    handler: async ({ claims, caller, body: { password, code, recoveryCode, credential, proof }, signal }, ctx) => {
      const factor = presentedFactor({ password, code, recoveryCode, credential });
      const client = await cancellationOf(ctx);
      const evidence = { factor, presented: readPresentedDevice(ctx, proof), refreshTokens: cookie.readOwn(ctx) };
      const input = { ...caller, tokenIssuedAt: claims.iat, ...evidence, origin: eventOriginOf(ctx), client };
      const { refreshToken, ...access } = await stepUp(deps)(input, signal);
      if (refreshToken === undefined) cookie.setAccess(ctx, access);
      else cookie.set(ctx, { ...access, refreshToken });
      return { accessToken: access.accessToken };
    },
  });
