import { createAuthClient } from './create-auth-client.ts';

/** The script of the page `/auth/continue`: renews a session whose device has a key, and goes on. */

const status = document.querySelector<HTMLElement>('[data-to]');
const { to = '/', login = '/' } = status?.dataset ?? {};

createAuthClient({ baseUrl: new URL('.', import.meta.url).href })
  .refresh()
  .then(
    (user) => location.replace(user ? to : login),
    ({ message }: Error) => status?.replaceChildren(message),
  );
