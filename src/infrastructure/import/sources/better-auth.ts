import { systemClock } from '../../../adapters/clock/system.ts';
import { type Fields, isTrue, renamed, textOf, timeOf } from '../fields.ts';
import { linkTo, sourceOf, WITHOUT_FACTOR } from '../system-export.ts';

/** Reads a row of the table `account`: a password, or a link to a provider. */
const accountIn = ({ providerId, accountId, password }: Fields) =>
  providerId === 'credential' ? { passwordHash: textOf(password) } : linkTo(providerId, accountId);

/** Reads the tables `user` and `account`: a JSON object with both tables, or a file for each. */
export const betterAuth = sourceOf({
  tables: ['user', 'account', 'users', 'accounts'],
  // Columns may have names in snake case, such as `email_verified`.
  renamed: (row) => renamed(row, (name) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())),
  part: (row) => ('providerId' in row ? { userKey: textOf(row.userId) ?? '', ...accountIn(row) } : null),
  // Rows without `email` are of other tables, such as `session`.
  isUser: (row) => 'email' in row,
  leftOut: ({ isAnonymous }) => (isTrue(isAnonymous) ? 'is an anonymous user' : undefined),
  fields: {
    ...{ id: 'id', email: 'email', emailVerified: 'emailVerified', createdAt: 'createdAt' },
    username: (row) => textOf(row.displayUsername) ?? textOf(row.username),
    disabled: ({ banned, banExpires }) => {
      const until = timeOf(banExpires);
      return isTrue(banned) && !(until !== undefined && Date.parse(until) <= systemClock.now());
    },
  },
  credentials: ({ twoFactorEnabled }) => (isTrue(twoFactorEnabled) ? [{ notes: [WITHOUT_FACTOR] }] : []),
});
