import { AuthError } from './client.js';
import type { Sent } from './curl.ts';
import { say } from './dom.ts';

/** Runs the action when the button is clicked. */
export const onClick = (button: HTMLElement, action: () => Promise<unknown>): void =>
  button.addEventListener('click', () => {
    run(button, action).catch(showError);
  });

const BASE = new URL('.', import.meta.url).pathname;

/**
 * Whether the user has asked for this request: a button that is busy names it in `data-sends`, such as `GET /users/me`. Whatever
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

export const showError = (error: unknown): void => {
  if (!(error instanceof AuthError)) {
    say(String(error), 'bad');
    return;
  }
  const { code, message, retryAfter } = error;
  say([`${code}:`, message, ...(retryAfter === null ? [] : [`Try again in ${retryAfter} s.`])].join(' '), 'bad');
};
