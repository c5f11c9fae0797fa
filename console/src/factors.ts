import { onClick, onSubmit, showError } from './actions.ts';
import { showApp } from './app.ts';
import type { AuthClient, Factors, Passkey } from './client.js';
import type { createAccountClient } from './client-account.js';
import type { createPasskeyClient } from './client-passkeys.js';
import { byId, make, say } from './dom.ts';
import { timeText } from './time.ts';
import { itemOf, ofSameUser } from './user-list.ts';

type Clients = {
  readonly auth: AuthClient;
  readonly passkeys: ReturnType<typeof createPasskeyClient>;
  readonly account: ReturnType<typeof createAccountClient>;
};

const FACTORS = '/users/me/factors';

/** Passkeys, authenticator apps and recovery codes. They are listed when they are unfolded. @returns a function that folds them. */
export const showFactors = ({ auth, passkeys, account }: Clients): { readonly clear: () => void } => {
  const [part, shown, newApp] = [byId<HTMLDetailsElement>('factors'), byId('factors-list'), byId('new-app')];
  const secret = byId('new-app-secret');
  let app = '';
  const forgetApp = (): void => {
    newApp.hidden = true;
    secret.replaceChildren();
  };

  const show = ({ passkeys: keys, totp, recoveryCodes }: Factors): void => {
    shown.replaceChildren(...keys.map(passkeyItem), ...totp.map(appItem));
    byId('codes-left').textContent = `Recovery codes left: ${recoveryCodes}`;
    byId('codes-part').hidden = totp.length === 0;
    byId('factors-none').hidden = shown.childElementCount > 0;
  };
  const list = (): Promise<void> => ofSameUser(auth, account.factors.list(), show);
  /** The button that was clicked may go away. */
  const afterwards = async (text: string): Promise<void> => {
    await list();
    byId('factors-summary').focus();
    say(text);
  };

  const passkeyItem = ({ id, name, synced, createdAt, lastUsedAt }: Passkey): HTMLLIElement => {
    const used = lastUsedAt === null ? 'not used yet' : `last used ${timeText(lastUsedAt)}`;
    const rename = make('button', { type: 'button', ariaLabel: `Rename the passkey ${name}` }, 'Rename');
    rename.dataset.sends = `PATCH /users/me/passkeys/${id}`;
    onClick(rename, async () => {
      const next = prompt('Name of the passkey', name);
      if (next === null) return;
      await passkeys.rename(id, next);
      await afterwards('The passkey has another name.');
    });
    const remove = make('button', { type: 'button', ariaLabel: `Remove the passkey ${name}` }, 'Remove');
    remove.dataset.sends = `DELETE /users/me/passkeys/${id}`;
    onClick(remove, async () => {
      await passkeys.remove(id);
      await afterwards('The passkey is removed.');
    });
    const notes = [`Passkey, ${synced ? 'synced' : 'on one device'}, added ${timeText(createdAt)}, ${used}`];
    return itemOf(name, notes, make('span', { className: 'buttons' }, rename, remove));
  };

  const appItem = ({ id, createdAt }: Factors['totp'][number]): HTMLLIElement => {
    const added = timeText(createdAt);
    const remove = make('button', { type: 'button', ariaLabel: `Remove the app added ${added}` }, 'Remove');
    remove.dataset.sends = `DELETE ${FACTORS}/${id}`;
    onClick(remove, async () => {
      await account.factors.removeApp(id);
      await afterwards('The authenticator app is removed.');
    });
    return itemOf('Authenticator app', [`added ${added}`], remove);
  };

  onClick(byId('add-passkey'), async () => {
    const { name } = await passkeys.add();
    await afterwards(`The passkey ${name} is added.`);
  });
  onClick(byId('add-app'), async () => {
    const started = await account.factors.addApp();
    app = started.id;
    showApp(secret, started);
    newApp.hidden = false;
    byId('new-app-code').focus();
  });
  onSubmit('confirm-app', async ({ code = '' }) => {
    await account.factors.confirmApp({ id: app, code });
    forgetApp();
    await list();
    if (byId('codes').hidden) byId('factors-summary').focus();
    say('The authenticator app is added.');
  });
  onClick(byId('make-codes'), async () => {
    await account.factors.makeRecoveryCodes();
    await list();
    say('The former recovery codes are not valid any more.');
  });
  onClick(byId('list-factors'), list);
  const listIfOpen = async (): Promise<void> => {
    if (part.open) await list();
  };
  part.addEventListener('toggle', () => void listIfOpen().catch(showError));
  return {
    clear: () => {
      part.open = false;
      forgetApp();
      shown.replaceChildren();
    },
  };
};
