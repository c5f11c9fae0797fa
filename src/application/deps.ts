import type { ExportAccountDeps } from './accounts/account-data.ts';
import type { ConfirmEmailChangeDeps, RequestEmailChangeDeps } from './accounts/change-email.ts';
import type { ChangePasswordDeps } from './accounts/change-password.ts';
import type { RegisterPendingDeps } from './accounts/register.ts';
import type { RegisterUnverifiedDeps } from './accounts/register-unverified.ts';
import type { ResetPasswordDeps } from './accounts/reset-password.ts';
import type { TakeAccountBackDeps } from './accounts/take-account-back.ts';
import type { ConfirmEmailDeps } from './accounts/verify-email.ts';
import type { FinishLoginDeps } from './factors/finish-login.ts';
import type { ManageFactorsDeps } from './factors/manage-factors.ts';
import type { ManagePasskeysDeps } from './factors/manage-passkeys.ts';
import type { StepUpDeps } from './factors/step-up.ts';
import type { PasskeyLoginDeps } from './factors/use-passkey.ts';
import type { Mailer } from './ports/mailer.ts';
import type { BindBrowserDeps } from './sessions/bind-browser.ts';
import type { AuthenticateDeps, CurrentUserDeps } from './sessions/current-user.ts';
import type { LogoutDeps } from './sessions/end-sessions.ts';
import type { EndOtherSessionsDeps, ListSessionsDeps } from './sessions/manage-sessions.ts';
import type { RefreshDeps } from './sessions/refresh.ts';
import type { MintAccessTokenDeps } from './sessions/rendered-pages.ts';

export type PasswordsPolicy = {
  /** `optional`: users may register without one. Default: required. */
  readonly passwords?: 'required' | 'optional' | undefined;
};

export type AccountsDeps = PasswordsPolicy &
  RegisterUnverifiedDeps &
  RegisterPendingDeps &
  ChangePasswordDeps &
  ResetPasswordDeps &
  ConfirmEmailDeps &
  RequestEmailChangeDeps &
  ConfirmEmailChangeDeps &
  TakeAccountBackDeps &
  ExportAccountDeps & {
    /** `null`: no mail is sent, and there are no routes that need it. */
    readonly mailer: Mailer | null;
  };

export type FactorsDeps = ManageFactorsDeps & ManagePasskeysDeps & PasskeyLoginDeps & FinishLoginDeps & StepUpDeps;

export type SessionsDeps = AuthenticateDeps &
  CurrentUserDeps &
  RefreshDeps &
  MintAccessTokenDeps &
  LogoutDeps &
  ListSessionsDeps &
  EndOtherSessionsDeps &
  Omit<BindBrowserDeps, 'boundCookieLifetime'>;
