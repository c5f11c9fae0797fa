import type { AuthClient } from './client.js';
import { make } from './dom.ts';

/** A list of what belongs to a user. */
export type UserList = { readonly list: () => Promise<void>; readonly clear: () => void };

/** Shows an answer, unless its user has logged out meanwhile. */
export const ofSameUser = async <Answer>(
  auth: AuthClient,
  answer: Promise<Answer>,
  show: (answer: Answer) => void,
): Promise<void> => {
  const id = auth.user?.id;
  const arrived = await answer;
  if (auth.user?.id === id) show(arrived);
};

/** @param beside what is at the end of the item: buttons, or a mark. */
export const itemOf = (title: string, notes: readonly string[], ...beside: readonly HTMLElement[]): HTMLLIElement => {
  const lines = notes.map((note) => make('p', { className: 'note' }, note));
  return make('li', {}, make('div', {}, make('p', {}, title), ...lines), ...beside);
};
