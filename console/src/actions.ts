import { AuthError } from './client.js';
import type { Sent } from './curl.ts';
import { byId, make, say } from './dom.ts';

type Fields = Readonly<Record<string, string>>;

/** Runs the action when the form is sent, and shows what is wrong next to the fields. */
export const onSubmit = (id: string, action: (fields: Fields) => Promise<unknown>): void => {
  const form = byId<HTMLFormElement>(id);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    // These forms have no files, so all values are strings.
    const fields = Object.fromEntries(new FormData(form)) as Fields;
    clearProblems(form);
    run(form, async () => {
      await action(fields);
      form.reset();
    }).catch((error: unknown) => showError(error, form));
  });
};

/** Runs the action when the button is clicked. */
export const onClick = (button: HTMLElement, action: () => Promise<unknown>): void =>
  button.addEventListener('click', () => {
    run(button, action).catch(showError);
  });

const BASE = new URL('.', import.meta.url).pathname;

/**
 * Whether the user has asked for this request: a form or a button that is busy names it in `data-sends`, such as `POST /auth/login`. Whatever
 * else is sent meanwhile, a list or a renewal, the console sends by itself.
 */
export const isAskedFor = ({ method, url }: Sent): boolean => {
  const request = `${method} /${new URL(url).pathname.slice(BASE.length)}`;
  return [...document.querySelectorAll<HTMLElement>('[aria-busy=true]')].some(
    ({ dataset }) => dataset.sends === request,
  );
};

/** One run at a time. The element is not disabled, since it would lose the focus. */
const run = async (element: HTMLElement, action: () => Promise<unknown>): Promise<void> => {
  if (element.ariaBusy === 'true') return;
  element.ariaBusy = 'true';
  await action().finally(() => {
    element.ariaBusy = 'false';
  });
};

export const showError = (error: unknown, form?: HTMLFormElement): void => {
  if (!(error instanceof AuthError)) {
    say(String(error), 'bad');
    return;
  }
  const { code, message, retryAfter, fields } = error;
  const shown = form ? fields.filter(({ field, message: text }) => showProblem(form, field, text)) : [];
  const others = fields.filter((each) => !shown.includes(each)).map(({ field, message: text }) => `${field} ${text}`);
  const later = retryAfter === null ? [] : [`Try again in ${retryAfter} s.`];
  say([`${code}:`, message, ...others, ...later].join(' '), 'bad');
  form?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
};

/** @returns whether the form has such a field. */
const showProblem = (form: HTMLFormElement, name: string, text: string): boolean => {
  const input = form.elements.namedItem(name);
  if (!(input instanceof HTMLInputElement)) return false;
  const id = `${input.id}-problem`;
  input.ariaInvalid = 'true';
  input.setAttribute('aria-describedby', id);
  byIdOrNew(id, input).append(`${text}. `);
  return true;
};

const byIdOrNew = (id: string, after: HTMLElement): HTMLElement => {
  const found = document.getElementById(id);
  if (found) return found;
  const made = make('span', { id, className: 'problem' });
  after.after(made);
  return made;
};

const clearProblems = (form: HTMLFormElement): void => {
  for (const problem of form.querySelectorAll('.problem')) problem.remove();
  for (const input of form.querySelectorAll('[aria-invalid]')) {
    input.removeAttribute('aria-invalid');
    input.removeAttribute('aria-describedby');
  }
};
