import type { AuthClient } from './types.ts';

/**
 * Calls `changed` whenever `auth.user` may have changed. It also waits for `ready`, since `onChange` does not report that nobody is logged in at the start.
 * @returns a function that removes the listener
 */
export const follow = (auth: AuthClient, changed: () => void): (() => void) => {
  auth.ready.then(changed, changed);
  return auth.onChange(changed);
};
