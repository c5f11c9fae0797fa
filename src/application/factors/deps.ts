import type { FinishLoginDeps } from './finish-login.ts';
import type { PasskeyLoginDeps } from './log-in-with-passkey.ts';
import type { ManageFactorsDeps } from './manage-factors.ts';
import type { ManagePasskeysDeps } from './manage-passkeys.ts';
import type { StepUpDeps } from './step-up.ts';

/** What the use cases of factors need. */
export type FactorsDeps = ManageFactorsDeps & ManagePasskeysDeps & PasskeyLoginDeps & FinishLoginDeps & StepUpDeps;
