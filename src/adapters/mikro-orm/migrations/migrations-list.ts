import { UsersAndSessions } from './0001-users-and-sessions.ts';
import { DevicesOfSessions } from './0002-devices-of-sessions.ts';
import { EarlierTokensOfSessions } from './0003-earlier-tokens-of-sessions.ts';
import { PasswordChangedAt } from './0004-password-changed-at.ts';
import { PurgeChecksOfSessions } from './0005-purge-checks-of-sessions.ts';
import { AccountLife } from './0006-account-life.ts';
import { RotationNumbers } from './0007-rotation-numbers.ts';
import { BoundedEvents } from './0008-bounded-events.ts';
import { Mailboxes } from './0009-mailboxes.ts';
import { MIGRATION_NAMES } from './migration-names.ts';

const CLASSES = {
  '0001-users-and-sessions': UsersAndSessions,
  '0002-devices-of-sessions': DevicesOfSessions,
  '0003-earlier-tokens-of-sessions': EarlierTokensOfSessions,
  '0004-password-changed-at': PasswordChangedAt,
  '0005-purge-checks-of-sessions': PurgeChecksOfSessions,
  '0006-account-life': AccountLife,
  '0007-rotation-numbers': RotationNumbers,
  '0008-bounded-events': BoundedEvents,
  '0009-mailboxes': Mailboxes,
} satisfies Record<(typeof MIGRATION_NAMES)[number], unknown>;

/** All migrations, oldest first. */
export const MIGRATIONS = MIGRATION_NAMES.map((name) => ({ name, class: CLASSES[name] }));
