import { createAccountClient } from './account.ts';
import type { AuthError } from './auth-error.ts';

/** The script of the pages below `/account`, to which links in mail lead. What can be done there is in the forms of the page. */

const account = createAccountClient({ baseUrl: new URL('.', import.meta.url).href });

/** What the forms do, by their `data-action`. */
const ACTIONS: Readonly<Record<string, (value: string, token: string) => Promise<unknown>>> = {
  'request-password-reset': account.requestPasswordReset,
  'reset-password': (newPassword, token) => account.resetPassword({ token, newPassword }),
  'request-email-verification': account.requestEmailVerification,
  'verify-email': (_, token) => account.verifyEmail(token),
  'refuse-registration': (_, token) => account.refuseRegistration(token),
  'confirm-email-change': (password, token) => account.confirmEmailChange({ token, password }),
  'undo-email-change': (_, token) => account.undoEmailChange(token),
  'undo-factors': (_, token) => account.undoFactors(token),
};

/** What a link does, to be filled in, by the `data-action` of its form. */
const PREVIEWS: Readonly<Record<string, (token: string) => Promise<Readonly<Record<string, string | null>>>>> = {
  'reset-password': account.previewPasswordReset,
  'confirm-email-change': account.previewEmailChange,
};

const find = (selector: string): HTMLElement | null => document.querySelector(selector);

/** Texts by a code; `other` for the codes that have none. */
type ByCode = { readonly [code: string]: string; readonly other: string };

/** What the script says, in the language of the page, which has it. */
const TEXTS: {
  readonly wait: string;
  readonly correct: string;
  readonly noToken: string;
  readonly incomplete: string;
  readonly tryAgain: string;
  readonly errors: ByCode;
  readonly fields: { readonly [name: string]: ByCode };
} = JSON.parse(find('[data-texts]')?.dataset.texts ?? '{}');

const textOf = (texts: ByCode, code = ''): string => (Object.hasOwn(texts, code) && texts[code]) || texts.other;

/** The token is in the fragment, which a browser sends to nobody. */
const tokenInAddress = (): string | null => new URLSearchParams(location.hash.slice(1)).get('token') || null;

/** Takes the token from the address, so that nobody sees or copies it. */
const takeToken = (): string | null => {
  const token = tokenInAddress();
  if (token === null) return null;
  const address = new URL(location.href);
  address.hash = '';
  history.replaceState(null, '', address);
  return token;
};

const show = (form: HTMLElement | null, isShown: boolean): void => {
  if (form) form.hidden = !isShown;
};

const say = (text: string): void => find('[role=status]')?.replaceChildren(text);

/** For text that comes with the end of a form: the focus would be lost with it. */
const sayAndFocus = (text: string): void => {
  say(text);
  find('[role=status]')?.focus();
};

const inputOf = (form: HTMLFormElement): HTMLInputElement | null =>
  form.querySelector('input:not([hidden], [type=checkbox])');

/** The texts that screen readers read with a field: its rules, and what is wrong with it. */
const describe = (input: HTMLInputElement, problem?: string): void => {
  const ids = [find(`#${input.id}-rules`)?.id, problem].filter((id) => id !== undefined);
  if (ids.length > 0) input.setAttribute('aria-describedby', ids.join(' '));
  else input.removeAttribute('aria-describedby');
};

const clearProblem = (form: HTMLFormElement): void => {
  form.querySelector('.problem')?.remove();
  const input = inputOf(form);
  input?.removeAttribute('aria-invalid');
  if (input) describe(input);
};

const showProblem = (input: HTMLInputElement, codes: readonly string[]): void => {
  say(TEXTS.correct);
  const text = document.createElement('span');
  text.className = 'problem';
  text.id = `${input.id}-problem`;
  const texts = TEXTS.fields[input.name] ?? { other: '' };
  text.append([...new Set(codes.map((code) => `${textOf(texts, code)}.`))].join(' '));
  input.after(text);
  input.ariaInvalid = 'true';
  describe(input, text.id);
  input.focus();
};

/** The link was used, has expired, or was replaced by a newer one: the form for it is of no use any more. */
const giveUp = (form: HTMLFormElement, message: string): void => {
  show(form, false);
  show(find('[data-without-token]'), true);
  sayAndFocus(`${message} ${form.dataset.afterwards}`);
};

const showFailure = (form: HTMLFormElement, error: Partial<AuthError>): void => {
  const { code, fields = [], retryAfter } = error;
  const message = textOf(TEXTS.errors, code);
  const input = inputOf(form);
  const problems = fields.filter(({ field }) => field === input?.name);
  if (code === 'AUTH_LINK_INVALID') giveUp(form, message);
  else if (code === 'AUTH_CREDENTIALS_INVALID' && input) showProblem(input, [code]);
  else if (fields.some(({ field }) => field === 'token')) giveUp(form, TEXTS.incomplete);
  else if (input && problems.length > 0)
    showProblem(
      input,
      problems.map((problem) => problem.code),
    );
  else say(retryAfter ? `${message} ${TEXTS.tryAgain.replace('{seconds}', `${retryAfter}`)}` : message);
};

/** Fills in what the link does, where the form has a place for it. A paragraph without a value stays hidden. */
const fillIn = async (form: HTMLFormElement, token: string): Promise<void> => {
  const places = [...form.querySelectorAll<HTMLElement>('[data-value]')];
  const preview = (await PREVIEWS[form.dataset.action ?? '']?.(token)) ?? {};
  for (const place of places) {
    const value = preview[place.dataset.value ?? ''];
    if (place instanceof HTMLInputElement) {
      place.value = value ?? '';
      continue;
    }
    if (value)
      place.append(
        place.tagName === 'TIME' ? new Date(value).toLocaleString(document.documentElement.lang, LONG) : value,
      );
    show(place.parentElement, !!value);
  }
};

const LONG = { dateStyle: 'long', timeStyle: 'short' } as const;

/** One request at a time. The button is not disabled, since it would lose the focus. */
const submit = async (form: HTMLFormElement, token: string): Promise<void> => {
  if (form.ariaBusy === 'true') return;
  form.ariaBusy = 'true';
  clearProblem(form);
  say(TEXTS.wait);
  try {
    await ACTIONS[form.dataset.action ?? '']?.(inputOf(form)?.value ?? '', token);
    show(form, false);
    find('[data-until-done]')?.remove();
    show(find('[data-when-done]'), true);
    sayAndFocus(form.dataset.done ?? '');
  } catch (error) {
    showFailure(form, error as Partial<AuthError>);
  }
  form.ariaBusy = 'false';
};

/** Shows a form when it says what the link does. A name for password managers is not waited for: the form works without it. */
const begin = (form: HTMLFormElement, token: string): void => {
  const isForManagers = form.querySelector('input[data-value]') !== null;
  show(form, isForManagers);
  fillIn(form, token).then(
    () => show(form, true),
    (error: Partial<AuthError>) => {
      if (!isForManagers) showFailure(form, error);
    },
  );
};

/** With a token the page shows the form for it, and without one the form that asks for a link. */
const token = takeToken();
find('#not-loaded')?.remove();
for (const form of document.querySelectorAll('form')) {
  if (!form.hasAttribute('data-with-token')) show(form, token === null);
  else if (token !== null) begin(form, token);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void submit(form, token ?? '');
  });
}
for (const box of document.querySelectorAll<HTMLInputElement>('[data-shows]'))
  box.addEventListener('change', () => {
    const field = find(`#${box.dataset.shows}`);
    if (field instanceof HTMLInputElement) field.type = box.checked ? 'text' : 'password';
  });
if (token === null && !find('[data-without-token]')) say(TEXTS.noToken);

// Another link to the page that is open changes the fragment alone.
addEventListener('hashchange', () => {
  if (tokenInAddress() !== null) location.reload();
});
