import { systemClock } from '../../../adapters/clock/system.ts';
import { type Fields, isTrue, renamed, textOf, timeOf } from '../fields.ts';
import { linkTo } from '../links.ts';
import { sourceOf, WITHOUT_FACTOR } from '../system-export.ts';

/** Columns are also named in the way of databases: `email_verified`. */
const named = (row: Fields): Fields =>
  renamed(row, (name) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()));

/** Rows of the table `account`: a password, or a link to a provider. */
const accountIn = ({ providerId, accountId, password }: Fields) =>
  providerId === 'credential' ? { passwordHash: textOf(password) } : linkTo(providerId, accountId);

/** Rows of the tables `user` and `account`: a JSON object of them, or a file for each. */
export const betterAuth = sourceOf({
  tables: ['user', 'account', 'users', 'accounts'],
  part: (row) => {
    const fields = named(row);
    return 'providerId' in fields ? { of: textOf(fields.userId) ?? '', ...accountIn(fields) } : null;
  },
  keys: ({ id }) => [textOf(id) ?? ''],
  user: (row) => {
    const fields = named(row);
    // A row of a further table, such as `session`.
    if (!('email' in fields)) return null;
    if (isTrue(fields.isAnonymous)) return { leftOut: 'is an anonymous user' };
    const until = timeOf(fields.banExpires);
    const isBanned = isTrue(fields.banned) && !(until !== undefined && Date.parse(until) <= systemClock.now());
    return {
      user: {
        id: textOf(fields.id),
        username: textOf(fields.displayUsername) ?? textOf(fields.username),
        email: textOf(fields.email),
        emailVerified: isTrue(fields.emailVerified),
        createdAt: timeOf(fields.createdAt),
        disabled: isBanned,
      },
      notes: isTrue(fields.twoFactorEnabled) ? [WITHOUT_FACTOR] : [],
    };
  },
});
