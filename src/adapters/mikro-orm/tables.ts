import type { Insertable, JSONColumnType, Selectable } from 'kysely';
import type { RotatedToken } from '../../domain/session.ts';

/** The two tables as their rows come and go. An int8 arrives as a number or as digits, as the driver likes. */

type Time = number | string | bigint;

export type UserRow = {
  id: string;
  username: string;
  username_canonical: string;
  email: string;
  password_hash: string;
  created_at: Time;
  updated_at: Time;
  password_changed_at: Time;
};

type SessionTable = {
  id: string;
  user_id: string;
  current_token_id: string;
  previous_token_id: string | null;
  rotated_at: Time;
  earlier_tokens: JSONColumnType<RotatedToken[], string, never>;
  created_at: Time;
  expires_at: Time;
  user_agent: string | null;
  address: string | null;
};

export type SessionRow = Selectable<SessionTable>;
export type NewSessionRow = Insertable<SessionTable>;

export type Tables = { users: UserRow; sessions: SessionTable };
