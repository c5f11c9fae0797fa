import * as v from 'valibot';
import { type Route, route } from '../../routing/define-route.ts';

/** Pages that password managers look for. `null`: there is none. */
type Pages = { readonly passwordPage: string | null; readonly passkeysPage: string | null };

/** Seconds. */
const MAX_AGE = 3_600;

const EXAMPLE = 'https://app.example.org/settings/passkeys';
const PasskeyEndpoints = v.pipe(
  v.object({ enroll: v.string(), manage: v.string() }),
  v.examples([{ enroll: EXAMPLE, manage: EXAMPLE }]),
);

export const wellKnownRoutes = ({ passwordPage, passkeysPage }: Pages): Route[] => [
  ...(passwordPage === null ? [] : [changePasswordRoute(passwordPage)]),
  ...(passkeysPage === null ? [] : [passkeyEndpointsRoute(passkeysPage)]),
];

/** W3C "A Well-Known URL for Changing Passwords". The page sends a link, which also works for users who do not know their password. */
const changePasswordRoute = (page: string): Route =>
  route(
    {
      name: 'change-password-page',
      tag: 'documents',
      summary: 'Lead to the page on which users set a new password',
      method: 'GET',
      path: '/.well-known/change-password',
      auth: 'public',
      throttle: 'public',
      response: { status: 303, data: v.null(), redirects: true },
    },
    (_input, ctx) => {
      ctx.state.location = page;
      return null;
    },
  );

/** W3C "A Well-Known URL for Relying Party Passkey Endpoints". */
const passkeyEndpointsRoute = (page: string): Route =>
  route(
    {
      name: 'passkey-endpoints',
      tag: 'documents',
      summary: 'Return the page on which users add and remove passkeys',
      method: 'GET',
      path: '/.well-known/passkey-endpoints',
      auth: 'public',
      throttle: 'public',
      response: {
        data: PasskeyEndpoints,
        unwrapped: { type: 'application/json', cacheControl: `public, max-age=${MAX_AGE}` },
      },
    },
    () => ({ enroll: page, manage: page }),
  );
