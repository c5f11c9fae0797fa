import { onClick, onSubmit } from './actions.ts';
import type { AuthClient } from './client.js';
import type { createAccountClient } from './client-account.js';
import { byId, say } from './dom.ts';

/** The forms about an account beside its sessions. */
export const showAccount = (auth: AuthClient, account: ReturnType<typeof createAccountClient>): void => {
  onSubmit('forgotten', async ({ email = '' }) => {
    await account.requestPasswordReset(email);
    say('If the address has an account, an email with a link is on its way.');
  });
  onSubmit('username', async ({ username = '' }) => {
    await account.changeUsername({ username });
    await auth.refresh();
    say('The username is changed.');
  });
  onSubmit('email', async ({ email = '', password = '' }) => {
    await account.changeEmail({ email, password });
    say('An email with a link is on its way to the new address. The old one stays until the link is opened.');
  });
  onSubmit('removal', async ({ password = '' }) => {
    await account.remove(password);
    await auth.logout();
    say('The account is removed.');
  });
  onClick(byId('export'), async () => {
    await account.exported();
    say('The answer to the last request holds everything that is stored about the account.');
  });
};
