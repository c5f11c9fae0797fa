import * as v from 'valibot';
import { finishLogin, showPendingLogin, startPendingApp } from '../../../../application/factors/finish-login.ts';
import type { Service } from '../../../../application/service.ts';
import { PendingLoginJson, StartedAppJson } from '../../../json/factors.ts';
import { Code, Proof, TYPED_CODE_MAX } from '../../../json/fields.ts';
import { LoginResult } from '../../../json/tokens.ts';
import type { UserSite } from '../../pages/layout.ts';
import { type DeviceAccess, loginSourceOf } from '../../request/device-access.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { handOver, loginErrors, OPENS_SESSION } from '../login/login.ts';
import { appJson, RecoveryCodesJson } from './factors.ts';
import { UsedCredential } from './passkey-credentials.ts';
import { requestOptions } from './passkey-options.ts';
import { shownFactor } from './step-up.ts';

export const SecondFactorBody = v.pipe(
  v.object({
    code: v.optional(Code),
    recoveryCode: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(TYPED_CODE_MAX))),
    credential: v.optional(UsedCredential),
    remember: v.optional(v.boolean()),
    proof: v.optional(Proof),
  }),
  v.examples([{ code: '287082', remember: true }]),
);

const FinishedLoginJson = v.object({
  ...LoginResult.entries,
  recoveryCodes: v.optional(RecoveryCodesJson.entries.recoveryCodes),
});

/** The second half of a log-in whose user needs a second factor. ADR 0009. */
export const secondFactorRoutes = (deps: Service, access: DeviceAccess, { brand }: UserSite): Route[] => {
  const { pendingLogin, rememberedDevice } = access;
  const factorSecrets = deps.secrets.factors;
  return [
    route(
      {
        name: 'pending-login',
        tag: 'tokens',
        summary: 'Return what the pending log-in of the browser waits for',
        method: 'GET',
        path: '/auth/login/pending',
        auth: 'public',
        response: { data: PendingLoginJson },
        errors: ['AUTH_SECOND_FACTOR_INVALID', 'DB_QUERY_FAILED'],
      },
      async (_input, ctx) => {
        const { challenge, ...pending } = await showPendingLogin(deps)(pendingLogin.read(ctx));
        return { ...pending, passkey: challenge && requestOptions(deps.webauthn, challenge) };
      },
    ),
    route(
      {
        ...OPENS_SESSION,
        name: 'second-factor',
        summary: 'Show the second factor of the pending log-in and open a session',
        path: '/auth/login/second-factor',
        request: { body: SecondFactorBody },
        response: { data: FinishedLoginJson },
        errors: loginErrors(deps, 'AUTH_SECOND_FACTOR_INVALID', 'AUTH_PASSKEY_INVALID', 'DB_RECORD_NOT_FOUND'),
      },
      async ({ body: { code, recoveryCode, credential, remember, proof }, signal }, ctx) => {
        const factor = shownFactor({ code, recoveryCode, credential });
        const input = { factor, remember, ...loginSourceOf(ctx, access, proof) };
        const { opened, recoveryCodes, rememberedDevice: remembered } = await finishLogin(deps)(input, signal);
        const result = await handOver(ctx, access, opened);
        pendingLogin.clear(ctx);
        if (remembered !== null) rememberedDevice.set(ctx, remembered);
        return recoveryCodes === null ? result : { ...result, recoveryCodes };
      },
    ),
    // Without the keys of secrets, there is none.
    ...(factorSecrets === null
      ? []
      : [
          route(
            {
              name: 'start-pending-totp',
              tag: 'tokens',
              summary:
                'Make a secret for an authenticator app, for the pending log-in of a user who has to add a factor',
              method: 'POST',
              path: '/auth/login/pending/totp',
              auth: 'public',
              throttle: 'strict',
              response: { status: 201, data: StartedAppJson },
              errors: ['AUTH_SECOND_FACTOR_INVALID', 'DB_UNIQUE_VIOLATION', 'DB_QUERY_FAILED'],
            },
            async (_input, ctx) =>
              appJson(await startPendingApp(deps, factorSecrets)(pendingLogin.readOwn(ctx)), brand.name),
          ),
        ]),
  ];
};
