import { defineEntity, p } from '@mikro-orm/core';
import type { RotatedToken } from '../../domain/session.ts';

/** Unique constraints that are violated when a user with the same name or email exists. */
export const USERNAME_KEY = 'users_username_canonical_key';
export const EMAIL_KEY = 'users_email_key';

/** The schema is built by the migrations; a test compares it with these entities. Times are epoch milliseconds. */
export const UserEntity = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.character().length(26).primary(),
    username: p.text(),
    usernameCanonical: p.text().unique(USERNAME_KEY),
    email: p.text().unique(EMAIL_KEY),
    passwordHash: p.text(),
    createdAt: p.bigint('number'),
    updatedAt: p.bigint('number'),
    passwordChangedAt: p.bigint('number').defaultRaw('0'),
  },
});

export const SessionEntity = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  properties: {
    id: p.character().length(26).primary(),
    user: () =>
      p
        .manyToOne(UserEntity)
        .ref()
        .deleteRule('cascade')
        .updateRule('no action')
        .foreignKeyName('sessions_user_id_fkey')
        .index('sessions_user_id_index'),
    currentTokenId: p.character().length(26),
    previousTokenId: p.character().length(26).nullable(),
    rotatedAt: p.bigint('number'),
    earlierTokens: p.json<readonly RotatedToken[]>().default('[]'),
    createdAt: p.bigint('number'),
    expiresAt: p.bigint('number'),
    /** When the purge looks at the session next: not after `expiresAt`. Refreshes leave it alone (ADR 0034). */
    purgeCheckAt: p.bigint('number').defaultRaw('0').index('sessions_purge_check_at_index'),
    userAgent: p.text().nullable(),
    address: p.text().nullable(),
  },
});
