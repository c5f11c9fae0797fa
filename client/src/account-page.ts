import { createAccountClient } from './account.ts';
import type { AuthError } from './auth-error.ts';

/** The script of the pages below `/account`, to which links in mail lead. What can be done there is in the page's form. */

const account = createAccountClient({ baseUrl: new URL('..', location.href).href });

/** What the forms do, by their `data-action`. */
const ACTIONS: Readonly<Record<string, (fields: FormData, token: string) => Promise<unknown>>> = {
  'request-password-reset': (fields) => account.requestPasswordReset(text(fields, 'email')),
  'reset-password': (fields, token) => account.resetPassword({ token, newPassword: text(fields, 'newPassword') }),
  'request-email-verification': (fields) => account.requestEmailVerification(text(fields, 'email')),
  'verify-email': (_, token) => account.verifyEmail(token),
  'refuse-registration': (_, token) => account.refuseRegistration(token),
  'confirm-email-change': (_, token) => account.confirmEmailChange(token),
  'undo-email-change': (_, token) => account.undoEmailChange(token),
};

const text = (fields: FormData, name: string): string => String(fields.get(name) ?? '');

/** The token is in the fragment, which a browser sends to nobody. It is taken from the address, so that nobody copies it. */
const takeToken = (): string | null => {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  history.replaceState(null, '', location.pathname);
  return token;
};

const show = (element: Element | null | undefined, isShown: boolean): void => {
  if (element instanceof HTMLElement) element.hidden = !isShown;
};

const say = (message: string): void => {
  const status = document.querySelector('[role=status]');
  if (status) status.textContent = message;
};

const messageOf = (error: unknown): string => {
  const { message, fields = [], retryAfter } = error as Partial<AuthError>;
  if (fields.length > 0) return fields.map((field) => `${field.field}: ${field.message}`).join('\n');
  return retryAfter
    ? `${message} Try again in ${retryAfter} seconds.`
    : (message ?? 'There was no response. Try again.');
};

const submit = async (form: HTMLFormElement, token: string): Promise<void> => {
  const button = form.querySelector('button');
  if (!button || button.disabled) return;
  button.disabled = true;
  say('…');
  try {
    await ACTIONS[form.dataset.action ?? '']?.(new FormData(form), token);
    show(form, false);
    say(form.dataset.done ?? 'Done.');
  } catch (error) {
    say(messageOf(error));
    show(document.querySelector('[data-after-failure]'), true);
  }
  button.disabled = false;
};

/** With a token the page shows the form for it, and without one the form that asks for a link. */
const token = takeToken();
for (const form of document.querySelectorAll('form')) {
  show(form, form.hasAttribute('data-with-token') === (token !== null));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void submit(form, token ?? '');
  });
}
if (token === null && !document.querySelector('form:not([data-with-token])')) {
  say('This page is opened by the link in an email. The address that you opened has no token: open the link again.');
}
