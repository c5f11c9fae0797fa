import type { AuthError } from './auth-error.ts';
import { createAuthClient } from './create-auth-client.ts';
import { sleep } from './host.ts';

/** The script of the page `/auth/continue`: renews a session whose device has a key, and goes on. */

/** How often it tries, and milliseconds between: a browser that opens many pages may be late with the frame of the key. */
const [ATTEMPTS, PAUSE] = [4, 1_000];

const status = document.querySelector<HTMLElement>('[data-to]');
const { to = '/', login = '/' } = status?.dataset ?? {};
const auth = createAuthClient({ baseUrl: new URL('.', import.meta.url).href });

const renew = (attempts: number): Promise<void> =>
  auth.refresh().then(
    (user) => location.replace(user ? to : login),
    async ({ message, retryable }: AuthError) => {
      if (!retryable || attempts <= 1) return status?.replaceChildren(message);
      await sleep(PAUSE * (1 + Math.random()));
      return renew(attempts - 1);
    },
  );
// Where the browser gives this page another storage than the application, there is no key here.
if (navigator.vendor.startsWith('Apple')) location.replace(login);
else void renew(ATTEMPTS);
