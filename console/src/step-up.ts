import { onClick, onSubmit } from './actions.ts';
import { type AuthClient, AuthError, type StepUpReason } from './client.js';
import type { createPasskeyClient } from './client-passkeys.js';
import { byId } from './dom.ts';

type StepUp = {
  /** Asks the user. For all requests that are refused meanwhile, once. @throws AuthError when the user does not want to */
  readonly ask: (reason: StepUpReason) => Promise<void>;
  readonly cancel: () => void;
};

const DONE = 'done';

/** The dialog in which the user shows something again. */
export const showStepUp = (auth: AuthClient, passkeys: ReturnType<typeof createPasskeyClient>): StepUp => {
  const dialog = byId<HTMLDialogElement>('step-up');
  let asked: Promise<void> | undefined;
  let closing = new AbortController();
  dialog.addEventListener('close', () => closing.abort());

  onSubmit('step-up-form', async ({ password = '', code = '' }) => {
    const byCode = code !== '' || byId('step-up-password-part').hidden;
    await auth.stepUp(byCode ? { code } : { password });
    dialog.close(DONE);
  });
  onClick(byId('step-up-passkey'), async () => {
    const { signal } = closing;
    const credential = await passkeys.passkeyCredential({ signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (!credential) return;
    await auth.stepUp({ credential });
    dialog.close(DONE);
  });
  const cancel = (): void => dialog.close();
  onClick(byId('step-up-cancel'), async () => cancel());

  const open = (reason: StepUpReason): Promise<void> => {
    const needsFactor = reason === 'second-factor';
    closing = new AbortController();
    byId<HTMLFormElement>('step-up-form').reset();
    byId('step-up-status').replaceChildren();
    byId('step-up-password-part').hidden = needsFactor;
    byId('step-up-reason').textContent = REASONS[reason];
    dialog.returnValue = '';
    dialog.showModal();
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        if (dialog.returnValue === DONE) resolve();
        else reject(new AuthError('AUTH_STEP_UP_REQUIRED', 'You have not confirmed that it is you.'));
      };
      dialog.addEventListener('close', settle, { once: true });
    });
  };
  return {
    ask: (reason) => {
      asked ??= open(reason).finally(() => {
        asked = undefined;
      });
      return asked;
    },
    cancel,
  };
};

const REASONS: Readonly<Record<StepUpReason, string>> = {
  recent: 'You were last asked some minutes ago. Enter the password or a code, or use a passkey.',
  'second-factor': 'This session was opened without the second factor. Enter a code, or use a passkey.',
};
