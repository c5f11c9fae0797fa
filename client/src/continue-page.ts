import type { AuthError } from './auth-error.ts';
import { createAuthClient } from './create-auth-client.ts';
import { sleep } from './host.ts';

/**
 * The script of the page `/auth/continue`: renews a session whose device has a key, and sends the browser on. In a page of an application that keeps a
 * form (kept-form.ts), it renews any session, and sends the form.
 */

/** How often the script tries, and the least milliseconds in between: in a busy browser, the frame with the key may load late. */
const [ATTEMPTS, PAUSE] = [4, 1_000];

const form = document.querySelector<HTMLFormElement>('form[data-again]');
const status = document.querySelector<HTMLElement>('[data-to]');
const { to = '/', login = '/' } = status?.dataset ?? {};
const auth = createAuthClient({ baseUrl: new URL('.', import.meta.url).href });

const proceed = (isRenewed: boolean): void => {
  if (!form) location.replace(isRenewed ? to : login);
  // The form may have a field of the name "submit", which hides its method.
  else if (isRenewed) HTMLFormElement.prototype.submit.call(form);
};

const renew = (attempts: number): Promise<void> =>
  auth.refresh().then(
    (user) => proceed(!!user),
    async ({ message, retryable }: AuthError) => {
      if (!retryable || attempts <= 1) return status?.replaceChildren(message);
      await sleep(PAUSE * (1 + Math.random()));
      return renew(attempts - 1);
    },
  );
// Safari gives this page another storage than the application, so this page does not have the key.
if (!form && navigator.vendor.startsWith('Apple')) location.replace(login);
else void renew(ATTEMPTS);
