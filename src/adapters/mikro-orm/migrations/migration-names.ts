/**
 * The names of all migrations, oldest first. Never rename a released one: databases store the names of applied migrations. Without
 * their classes, since a start with nothing to apply does not load those.
 */
export const MIGRATION_NAMES = [
  '0001-users-and-sessions',
  '0002-devices-of-sessions',
  '0003-earlier-tokens-of-sessions',
  '0004-password-changed-at',
  '0005-purge-checks-of-sessions',
  '0006-account-life',
  '0007-rotation-numbers',
  '0008-bounded-events',
  '0009-mailboxes',
] as const;
