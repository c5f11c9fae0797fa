import type { RefreshCookie } from '../../adapters/http/request/refresh-cookie.ts';
import { accountRoutes } from '../../adapters/http/routes/account.ts';
import { emailRoutes } from '../../adapters/http/routes/email.ts';
import type { Route } from '../../adapters/http/routing/define-route.ts';
import { boundedQueue } from '../../adapters/resilience/bounded-queue.ts';
import { type ChangeUsernameDeps, changeUsername } from '../../application/use-cases/change-username.ts';
import { type ConfirmEmailDeps, confirmEmail } from '../../application/use-cases/confirm-email.ts';
import { type ConfirmEmailChangeDeps, confirmEmailChange } from '../../application/use-cases/confirm-email-change.ts';
import { type DeleteAccountDeps, deleteAccount } from '../../application/use-cases/delete-account.ts';
import { type ExportAccountDeps, exportAccount } from '../../application/use-cases/export-account.ts';
import { type PreviewEmailChangeDeps, previewEmailChange } from '../../application/use-cases/preview-email-change.ts';
import {
  type RemoveUnprovenAccountDeps,
  removeUnprovenAccount,
} from '../../application/use-cases/remove-unproven-account.ts';
import { type RequestEmailChangeDeps, requestEmailChange } from '../../application/use-cases/request-email-change.ts';
import {
  type RequestEmailVerificationDeps,
  requestEmailVerification,
} from '../../application/use-cases/request-email-verification.ts';
import { type UndoEmailChangeDeps, undoEmailChange } from '../../application/use-cases/undo-email-change.ts';

export type AccountDeps = ChangeUsernameDeps &
  DeleteAccountDeps &
  ExportAccountDeps &
  RequestEmailVerificationDeps &
  ConfirmEmailDeps &
  RemoveUnprovenAccountDeps &
  RequestEmailChangeDeps &
  PreviewEmailChangeDeps &
  ConfirmEmailChangeDeps &
  UndoEmailChangeDeps;

/** Milliseconds that an export waits for others. Each takes some 20 ms. */
const EXPORT_MAX_WAIT = 5_000;

/** One export at a time: it is the largest response. */
const exportInTurn = (deps: ExportAccountDeps): ReturnType<typeof exportAccount> => {
  const inTurn = boundedQueue({ width: 1, maxWait: EXPORT_MAX_WAIT });
  const exported = exportAccount(deps);
  return (...input) => inTurn(() => exported(...input));
};

/** The routes about the account itself. @param sendsMail whether there is mail. */
export const declareAccountRoutes = (deps: AccountDeps, cookie: RefreshCookie, sendsMail: boolean): Route[] => [
  ...accountRoutes(
    {
      changeUsername: changeUsername(deps),
      deleteAccount: deleteAccount(deps),
      exportAccount: exportInTurn(deps),
    },
    cookie,
  ),
  ...(sendsMail
    ? emailRoutes(
        {
          requestEmailVerification: requestEmailVerification(deps),
          confirmEmail: confirmEmail(deps),
          removeUnprovenAccount: removeUnprovenAccount(deps),
          requestEmailChange: requestEmailChange(deps),
          previewEmailChange: previewEmailChange(deps),
          confirmEmailChange: confirmEmailChange(deps),
          undoEmailChange: undoEmailChange(deps),
        },
        cookie,
      )
    : []),
];
