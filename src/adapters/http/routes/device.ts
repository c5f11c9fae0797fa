import * as v from 'valibot';
import { type RebindDeviceDeps, rebindDevice } from '../../../application/use-cases/rebind-device.ts';
import { originOf } from '../request/client.ts';
import type { PresentedDevice } from '../request/presented-device.ts';
import { type Route, route } from '../routing/define-route.ts';
import { RebindBody } from '../routing/schemas.ts';

/** The keys of devices. ADR 0057. */
export const deviceRoutes = (deps: RebindDeviceDeps, presentedDevice: PresentedDevice): Route[] => {
  const useCases = { rebindDevice: rebindDevice(deps) };
  return [
    route(
      {
        name: 'rebind-device',
        tag: 'sessions',
        summary: 'Give the session another key of its device',
        method: 'POST',
        path: '/auth/device/rebind',
        throttle: 'strict',
        request: { body: RebindBody },
        response: { data: v.null() },
        errors: [
          ...(['AUTH_CREDENTIALS_INVALID', 'AUTH_DEVICE_UNPROVEN', 'AUTH_PROOF_EXPIRED'] as const),
          ...(['DB_RECORD_NOT_FOUND', 'DB_QUERY_FAILED'] as const),
        ],
      },
      async ({ claims, sessionId, body: { password, proof } }, ctx) => {
        const presented = presentedDevice(ctx, proof);
        const caller = { userId: claims.sub, sessionId, tokenIssuedAt: claims.iat };
        await useCases.rebindDevice({ ...caller, password, presented, origin: originOf(ctx) });
        return null;
      },
    ),
  ];
};
