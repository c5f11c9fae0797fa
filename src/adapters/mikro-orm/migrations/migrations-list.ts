import { UsersAndSessions } from './0001-users-and-sessions.ts';
import { DevicesOfSessions } from './0002-devices-of-sessions.ts';
import { EarlierTokensOfSessions } from './0003-earlier-tokens-of-sessions.ts';
import { PasswordChangedAt } from './0004-password-changed-at.ts';
import { PurgeChecksOfSessions } from './0005-purge-checks-of-sessions.ts';

/** All migrations, oldest first. Never rename a released one: databases store the names of applied migrations. */
export const MIGRATIONS = [
  { name: '0001-users-and-sessions', class: UsersAndSessions },
  { name: '0002-devices-of-sessions', class: DevicesOfSessions },
  { name: '0003-earlier-tokens-of-sessions', class: EarlierTokensOfSessions },
  { name: '0004-password-changed-at', class: PasswordChangedAt },
  { name: '0005-purge-checks-of-sessions', class: PurgeChecksOfSessions },
];
