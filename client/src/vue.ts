import { getCurrentScope, onScopeDispose, type ShallowRef, shallowRef } from 'vue';
import { follow } from './follow.ts';
import type { AuthClient, User } from './types.ts';

/**
 * The user of a client, for Vue: a ref of `null` if nobody is logged in, and of `undefined` as long as that is not known. The ref follows the
 * client, here or in another tab, until its effect scope ends, such as that of a component; outside of a scope, it follows the client for ever.
 *
 * @example
 * const user = useAuth(auth);
 */
export const useAuth = (auth: AuthClient): Readonly<ShallowRef<User | null | undefined>> => {
  const user = shallowRef(auth.user);
  const update = () => {
    user.value = auth.user;
  };
  const stop = follow(auth, update);
  if (getCurrentScope()) onScopeDispose(stop);
  return user;
};
