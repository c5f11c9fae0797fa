import type { Context } from 'koa';
import type { OpenedSession } from '../../../application/sessions/open-session.ts';
import type { BrowserSession } from './browser-session.ts';
import { clientNetworks, originOf, type PresentedDevice } from './client.ts';
import type { HttpOnlyCookie, SessionCookies } from './cookies.ts';
import { acceptedLocales } from './language.ts';

/** How the routes see the device of a request, and what they send it. */
export type DeviceAccess = {
  readonly cookie: SessionCookies;
  readonly pendingLogin: HttpOnlyCookie;
  readonly rememberedDevice: HttpOnlyCookie;
  readonly device: PresentedDevice;
  /** `null`: browsers hold no keys. */
  readonly browser: BrowserSession | null;
  /** Links to an account what the browser has kept of a sign-in before it has logged in. `undefined`: there are no providers. */
  readonly linkKept: ((ctx: Context, session: OpenedSession) => Promise<void>) | undefined;
};

/** Of a request whose proof of its device is missing, not valid, or of another time. */
export const PROOF_ERRORS = ['AUTH_DEVICE_UNPROVEN', 'AUTH_PROOF_EXPIRED'] as const;

/** Where a log-in comes from. A refresh token of the account identifies a known device. ADR 0008. */
export const loginSourceOf = (ctx: Context, access: DeviceAccess, proof: string | undefined) => ({
  networks: clientNetworks(ctx),
  locales: acceptedLocales(ctx),
  origin: originOf(ctx),
  presented: access.device(ctx, proof),
  refreshTokens: access.cookie.readOwn(ctx),
  /** What the browser got earlier in this log-in, and in one before. */
  pendingLogins: access.pendingLogin.readOwn(ctx),
  rememberedDevices: access.rememberedDevice.readOwn(ctx),
});
