import type { Mailer } from '../ports/mailer.ts';
import type { ChangePasswordDeps } from './change-password.ts';
import type { ConfirmEmailChangeDeps } from './confirm-email-change.ts';
import type { ExportAccountDeps } from './export-account.ts';
import type { RegisterPendingDeps } from './register.ts';
import type { RegisterUnverifiedDeps } from './register-unverified.ts';
import type { RequestEmailChangeDeps } from './request-email-change.ts';
import type { ResetPasswordDeps } from './reset-password.ts';
import type { TakeAccountBackDeps } from './take-account-back.ts';
import type { ConfirmEmailDeps } from './verify-email.ts';

/** What the use cases of accounts need. */
export type AccountsDeps = RegisterUnverifiedDeps &
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
