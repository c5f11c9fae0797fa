import { onClick, onSubmit } from './actions.ts';
import { type AuthClient, AuthError, type StepUpReason } from './client.js';
import type { createPasskeyClient } from './client-passkeys.js';
import { byId } from './dom.ts';

type StepUp = {
  /** Asks the user. The client asks for one thing at a time, once for all requests. @throws AuthError when the user does not want to */
  readonly ask: (reason: StepUpReason) => Promise<void>;
  readonly cancel: () => void;
};

const DONE = 'done';

/** The dialog in which the user shows something again. */
export const showStepUp = (auth: AuthClient, passkeys: ReturnType<typeof createPasskeyClient>): StepUp => {
  const dialog = byId<HTMLDialogElement>('step-up');
  let closing = new AbortController();
  dialog.addEventListener('close', () => closing.abort());

  onSubmit('step-up-form', async ({ password = '', code = '' }) => {
    await auth.stepUp(byId('step-up-password-part').hidden ? { code } : { password });
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
    byId('step-up-code-part').hidden = !needsFactor;
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
    ask: open,
    cancel,
  };
};

const REASONS: Readonly<Record<StepUpReason, string>> = {
  recent: 'You were last asked for the password some minutes ago. Enter it, or use a passkey.',
  'second-factor':
    'The second factor was not shown in this session, or some minutes ago. Enter a code, or use a passkey.',
};
