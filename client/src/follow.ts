import type { AuthClient } from './types.ts';

/**
 * Calls `onChange` whenever `auth.user` may have changed. It also waits for `auth.ready`, since `auth.onChange` does not report at the start that nobody is logged in.
 * @returns a function that removes the listener
 */
export const follow = (auth: AuthClient, onChange: () => void): (() => void) => {
  auth.ready.then(onChange, onChange);
  return auth.onChange(onChange);
};
