import type { AuthClient } from './client.js';

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
