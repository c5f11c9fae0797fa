import type { AuthError } from './auth-error.ts';
import { createAuthClient } from './create-auth-client.ts';
import { sleep } from './host.ts';

/**
 * The script of the page `/auth/continue`: renews a session whose device has a key, and goes on. In a page of an application that keeps a form
 * (kept-form.ts), it renews any session, and sends the form.
 */

/** How often it tries, and milliseconds between: a browser that opens many pages may be late with the frame of the key. */
const [ATTEMPTS, PAUSE] = [4, 1_000];

const form = document.querySelector<HTMLFormElement>('form[data-again]');
const status = document.querySelector<HTMLElement>('[data-to]');
const { to = '/', login = '/' } = status?.dataset ?? {};
const auth = createAuthClient({ baseUrl: new URL('.', import.meta.url).href });

const goOn = (isRenewed: boolean): void => {
  if (!form) location.replace(isRenewed ? to : login);
  // It may have a field of the name "submit".
  else if (isRenewed) HTMLFormElement.prototype.submit.call(form);
};

const renew = (attempts: number): Promise<void> =>
  auth.refresh().then(
    (user) => goOn(!!user),
    async ({ message, retryable }: AuthError) => {
      if (!retryable || attempts <= 1) return status?.replaceChildren(message);
      await sleep(PAUSE * (1 + Math.random()));
      return renew(attempts - 1);
    },
  );
// Where the browser gives this page another storage than the application, there is no key here.
if (!form && navigator.vendor.startsWith('Apple')) location.replace(login);
else void renew(ATTEMPTS);
