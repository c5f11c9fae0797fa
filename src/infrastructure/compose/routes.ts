import { readFileSync } from 'node:fs';
import { refreshCookie } from '../../adapters/http/request/refresh-cookie.ts';
import { accountPageRoutes } from '../../adapters/http/routes/account-pages.ts';
import { authRoutes } from '../../adapters/http/routes/auth.ts';
import { clientRoutes } from '../../adapters/http/routes/client.ts';
import { type ConsoleFiles, consoleRoutes } from '../../adapters/http/routes/console.ts';
import { errorRoutes } from '../../adapters/http/routes/errors.ts';
import { eventRoutes } from '../../adapters/http/routes/events.ts';
import { type Check, healthRoutes } from '../../adapters/http/routes/health.ts';
import { keySetRoutes } from '../../adapters/http/routes/key-set.ts';
import { openApiRoutes } from '../../adapters/http/routes/open-api.ts';
import { pageRoutes } from '../../adapters/http/routes/pages.ts';
import { passwordResetRoutes } from '../../adapters/http/routes/password-reset.ts';
import { sessionRoutes } from '../../adapters/http/routes/sessions.ts';
import { userRoutes } from '../../adapters/http/routes/users.ts';
import type { Route } from '../../adapters/http/routing/define-route.ts';
import type { PublicJwks } from '../../adapters/token-signer/jwks.ts';
import type { Mailer } from '../../application/ports/mailer.ts';
import type { Outbox } from '../../application/ports/outbox.ts';
import type { SessionRepository } from '../../application/ports/session-repository.ts';
import { type ChangePasswordDeps, changePassword } from '../../application/use-cases/change-password.ts';
import { endAllSessions } from '../../application/use-cases/end-all-sessions.ts';
import { endOtherSessions } from '../../application/use-cases/end-other-sessions.ts';
import { endOwnSession } from '../../application/use-cases/end-own-session.ts';
import { getCurrentUser } from '../../application/use-cases/get-current-user.ts';
import { type ListEventsDeps, listEvents } from '../../application/use-cases/list-events.ts';
import { listSessions } from '../../application/use-cases/list-sessions.ts';
import { type LoginDeps, login } from '../../application/use-cases/login.ts';
import { type LogoutDeps, logout } from '../../application/use-cases/logout.ts';
import { type RefreshDeps, refresh } from '../../application/use-cases/refresh.ts';
import { type RegisterDeps, register } from '../../application/use-cases/register.ts';
import { type RegisterUnprovenDeps, registerUnproven } from '../../application/use-cases/register-unproven.ts';
import { requestPasswordReset } from '../../application/use-cases/request-password-reset.ts';
import { type ResetPasswordDeps, resetPassword } from '../../application/use-cases/reset-password.ts';
import { VERSION } from '../version.ts';
import { type AccountDeps, declareAccountRoutes } from './account-routes.ts';

/** What the use cases need. */
export type UseCaseDeps = {
  readonly sessions: SessionRepository;
  readonly outbox: Outbox;
  /** `null`: there are no routes that need mail. */
  readonly mailer: Mailer | null;
} & RegisterDeps &
  LoginDeps &
  RefreshDeps &
  LogoutDeps &
  ChangePasswordDeps &
  ListEventsDeps &
  RegisterUnprovenDeps &
  AccountDeps &
  ResetPasswordDeps;

type RoutesOptions = {
  readonly refreshCookie: Parameters<typeof refreshCookie>[0];
  readonly baseUrl: string;
  readonly checks: readonly Check[];
  readonly keySet: PublicJwks;
  /** Whether there is mail. */
  readonly sendsMail: boolean;
  /** `null`: there is no console. */
  readonly console: ConsoleFiles | null;
  /** Whether links in mail lead to pages of the service. */
  readonly hasAccountPages: boolean;
  /** Its users read these pages: its origin, if it is known. */
  readonly application: string | null;
};

/** Every route of the service, over the use cases. */
export const declareRoutes = (
  deps: UseCaseDeps,
  {
    refreshCookie: cookieSettings,
    baseUrl,
    checks,
    keySet,
    sendsMail,
    console: page,
    hasAccountPages,
    application,
  }: RoutesOptions,
): Route[] => {
  const settings = { baseUrl, version: VERSION };
  const cookie = refreshCookie(cookieSettings);
  const registration =
    deps.emailVerification === 'required'
      ? ({ opensSession: false, run: registerUnproven(deps) } as const)
      : ({ opensSession: true, run: register(deps) } as const);
  const routes: Route[] = [
    ...authRoutes({ register: registration, login: login(deps), refresh: refresh(deps), logout: logout(deps) }, cookie),
    ...sessionRoutes(
      {
        listSessions: listSessions(deps),
        endOwnSession: endOwnSession(deps),
        endAllSessions: endAllSessions(deps),
        endOtherSessions: endOtherSessions(deps),
      },
      cookie,
    ),
    ...userRoutes({ getCurrentUser: getCurrentUser(deps), changePassword: changePassword(deps) }, cookie),
    ...eventRoutes({ listEvents: listEvents(deps) }),
    ...passwordResetRoutes({
      requestPasswordReset: sendsMail ? requestPasswordReset(deps) : null,
      resetPassword: resetPassword(deps),
    }),
    ...declareAccountRoutes(deps, cookie, sendsMail),
    ...errorRoutes(settings),
    ...keySetRoutes(keySet),
    ...clientRoutes(readClientModules()),
    ...(hasAccountPages ? accountPageRoutes({ ...settings, application }, readAccountPageScript()) : []),
    ...(page === null ? [] : consoleRoutes(page)),
    ...healthRoutes(checks),
    ...openApiRoutes(() => routes, settings),
    ...pageRoutes(() => routes, settings),
  ];
  return routes;
};

const read = (name: string): string => readFileSync(new URL(`../../../client/dist/${name}`, import.meta.url), 'utf8');

/** The modules of the browser client as `npm run client` has built them (ADR 0037). */
const readClientModules = () => ({ session: read('client.js'), account: read('client-account.js') });

/** The script of the service's own pages for links in mail. */
const readAccountPageScript = (): string => read('account-page.js');
