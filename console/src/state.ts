import { byId } from './dom.ts';

/** Whether somebody is logged in. */
type State = 'in' | 'out';

/** What gets the focus. */
const TITLES: Readonly<Record<State, string>> = { in: 'tokens-title', out: 'login-title' };

/** Shows what fits, and moves the focus if its place is hidden now. */
export const showState = (state: State): void => {
  const place = document.activeElement?.closest<HTMLElement>('[data-show]')?.dataset.show;
  for (const part of document.querySelectorAll<HTMLElement>('[data-show]')) part.hidden = part.dataset.show !== state;
  if (place && place !== state) byId(TITLES[state]).focus();
};
