import { byId } from './dom.ts';

/** Whether somebody is logged in. `pending`: a log-in waits for its second factor. */
type State = 'in' | 'out' | 'pending';

/** What gets the focus. */
const TITLES: Readonly<Record<State, string>> = { in: 'tokens-title', out: 'login-title', pending: 'pending-title' };

/** Shows what fits, and moves the focus if its place is hidden now. */
export const showState = (state: State): void => {
  const place = document.activeElement?.closest<HTMLElement>('[data-show]')?.dataset.show;
  for (const part of document.querySelectorAll<HTMLElement>('[data-show]')) part.hidden = part.dataset.show !== state;
  if (place && place !== state) byId(TITLES[state]).focus();
};
