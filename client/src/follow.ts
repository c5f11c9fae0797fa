import type { AuthClient } from './types.ts';

/**
 * Calls `changed` whenever `auth.user` may be another one. That nobody is logged in at the beginning is reported by `ready`, not to listeners.
 * @returns a function that removes the listener
 */
export const follow = (auth: AuthClient, changed: () => void): (() => void) => {
  auth.ready.then(changed, changed);
  return auth.onChange(changed);
};
