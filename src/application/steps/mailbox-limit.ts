import type { User } from '../../domain/user.ts';
import type { Clock } from '../ports/clock.ts';

/** Accounts that may have mail sent to an address at once. */
export const ACCOUNTS_AT_ONCE = 5;
/** Milliseconds after the latest account until one more may, so that an owner who comes later is not kept out for long. */
export const FURTHER_ACCOUNT = 3_600_000;
/** Milliseconds after which an account is forgotten. */
const MEMORY = 86_400_000;

/** Whether an account may have mail sent to an address that it has not proven. */
export type MailboxLimit = (to: string, account: Pick<User, 'id' | 'email'>) => boolean;

/**
 * Limits how many accounts cause mail in one mailbox. What one account may cause is limited elsewhere, but somebody can delete it and
 * register again, or have many of them ask for a change to the same address. Accounts with the address and those that want it are counted
 * separately: whoever asks for changes must not stop the notices of the account that has it. Counts in this process alone.
 * @param capacity addresses that are remembered; beyond that, the one that had its latest account first is forgotten
 */
export const mailboxLimit = ({ now }: Clock, capacity = 10_000): MailboxLimit => {
  /** When accounts were admitted, by their ids; in the order of the latest one of an address. */
  const addresses = new Map<string, ReadonlyMap<string, number>>();
  return (to, { id, email }) => {
    const at = now();
    const key = email === to ? to : `change to ${to}`;
    const known = [...(addresses.get(key) ?? [])];
    // Not after now either: the clock may have been set back.
    const accounts = new Map(known.filter(([, since]) => since <= at && at - since < MEMORY));
    if (accounts.has(id)) return true;
    const latest = Math.max(...accounts.values());
    if (accounts.size >= ACCOUNTS_AT_ONCE && at - latest < FURTHER_ACCOUNT) return false;
    addresses.delete(key);
    addresses.set(key, accounts.set(id, at));
    const [first] = addresses.keys();
    if (addresses.size > capacity && first !== undefined) addresses.delete(first);
    return true;
  };
};
