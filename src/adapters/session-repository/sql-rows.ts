import type { Session } from '../../domain/session.ts';
import type { NewRow, Row } from '../mikro-orm/rows.ts';

/** The columns of which a session consists. */
export const SESSION_COLUMNS = [
  'id',
  'user_id',
  'current_token_id',
  'previous_token_id',
  'rotated_at',
  'rotation',
  'run_started_at',
  'run_first',
  'created_at',
  'expires_at',
  'user_agent',
  'address',
] as const satisfies readonly (keyof Row<'sessions'>)[];

export const toSession = (row: Pick<Row<'sessions'>, (typeof SESSION_COLUMNS)[number]>): Session => ({
  id: row.id,
  userId: row.user_id,
  currentTokenId: row.current_token_id,
  previousTokenId: row.previous_token_id,
  rotatedAt: Number(row.rotated_at),
  rotation: Number(row.rotation),
  // Null until an instance of this version rotates the session.
  runStartedAt: Number(row.run_started_at ?? row.rotated_at),
  runFirst: Number(row.run_first),
  createdAt: Number(row.created_at),
  expiresAt: Number(row.expires_at),
  userAgent: row.user_agent,
  address: row.address,
});

export const toRow = (session: Session): Omit<NewRow<'sessions'>, 'earlier_tokens'> => ({
  id: session.id,
  user_id: session.userId,
  current_token_id: session.currentTokenId,
  previous_token_id: session.previousTokenId,
  rotated_at: session.rotatedAt,
  rotation: session.rotation,
  run_started_at: session.runStartedAt,
  run_first: session.runFirst,
  created_at: session.createdAt,
  expires_at: session.expiresAt,
  purge_check_at: session.expiresAt,
  user_agent: session.userAgent,
  address: session.address,
});
