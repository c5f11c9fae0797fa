import { changePassword } from '../../../../application/accounts/change-password.ts';
import { changeLocale } from '../../../../application/accounts/profile.ts';
import type { AccountsDeps, SessionsDeps } from '../../../../application/deps.ts';
import { getCurrentUser } from '../../../../application/sessions/current-user.ts';
import { CurrentUserJson } from '../../../json/public-user.ts';
import { originOf } from '../../request/client.ts';
import type { SessionCookies } from '../../request/cookies.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { ChangePasswordBody, LocaleBody } from '../../routing/schemas.ts';
import { RefreshResult } from '../login/auth.ts';

export const userRoutes = (deps: AccountsDeps & SessionsDeps, cookie: SessionCookies): Route[] => {
  const useCases = {
    getCurrentUser: getCurrentUser(deps),
    changeLocale: changeLocale(deps),
    changePassword: changePassword(deps),
  };
  return [
    route(
      {
        name: 'current-user',
        tag: 'users',
        summary: 'Return the user as stored now',
        method: 'GET',
        path: '/users/me',
        response: { data: CurrentUserJson },
      },
      ({ caller }) => useCases.getCurrentUser(caller),
    ),
    route(
      {
        name: 'change-current-user',
        tag: 'users',
        summary: "Change the language of the user's mails",
        method: 'PATCH',
        path: '/users/me',
        request: { body: LocaleBody },
        response: { data: CurrentUserJson },
      },
      ({ caller, body }, ctx) => useCases.changeLocale(caller, body.locale, originOf(ctx)),
    ),
    route(
      {
        name: 'change-password',
        tag: 'account',
        summary: 'Change the password, end all sessions and open a new one for the caller',
        method: 'PUT',
        path: '/users/me/password',
        throttle: 'strict',
        cookie: { writes: 'sets' },
        request: { body: ChangePasswordBody },
        response: { data: RefreshResult },
        errors: ['AUTH_CREDENTIALS_INVALID', 'AUTH_STEP_UP_REQUIRED'],
      },
      async ({ claims, caller, body, signal }, ctx) => {
        const change = { ...body, ...caller, tokenIssuedAt: claims.iat, origin: originOf(ctx) };
        const { refreshToken, accessToken } = await useCases.changePassword(change, signal);
        cookie.set(ctx, { refreshToken, accessToken });
        return { accessToken };
      },
    ),
  ];
};
