import { randomUUID } from 'node:crypto';
import bcrypt from 'bcrypt';
import { Pool } from 'pg';
import { BCRYPT_COST, DATABASE_POOL_SIZE, databaseUrl } from './environment.ts';
import type { AccessClaims, RefreshClaims, Tokens, User } from './tokens/tokens.ts';

export type LoginResult = { readonly user: User; readonly accessToken: string; readonly refreshToken: string };
export type NewUser = { readonly username: string; readonly email: string; readonly password: string };
export type LogIn = { readonly account: string; readonly password: string };

const SCHEMA = `
  create table if not exists users (
    id uuid primary key,
    username text not null unique,
    email text not null unique,
    password_hash text not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
  );
  create table if not exists sessions (
    id uuid primary key,
    user_id uuid not null references users on delete cascade,
    current_token_id uuid not null,
    expires_at timestamptz not null
  );
  create index if not exists sessions_user_id on sessions (user_id)`;

const USER = 'u.id, u.username, u.email, u.created_at, u.updated_at';
const LIFETIME = `now() + interval '7 days'`;

type UserRow = { id: string; username: string; email: string; created_at: Date; updated_at: Date };
type UserWithPassword = UserRow & { password_hash: string };

const userOf = (row: UserRow): User => ({
  id: row.id,
  username: row.username,
  email: row.email,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

/**
 * The part that the peers which are written here share: users and sessions in PostgreSQL through pg, passwords through bcrypt.
 * Every statement has a name, so that PostgreSQL parses and plans it once for a connection. A refresh is one statement, which swaps the
 * token of the session if it is still the presented one. No index is on a column that it changes, so the update stays in its page (HOT).
 * Each method returns `null` where the caller responds with 401.
 */
export const openAccounts = async (tokens: Tokens) => {
  const pool = new Pool({ connectionString: databaseUrl(), max: DATABASE_POOL_SIZE });
  await pool.query(SCHEMA);
  const statement =
    <Row extends object>(name: string, text: string) =>
    (...values: readonly string[]) =>
      pool.query<Row>({ name, text, values: [...values] });
  const addSession = statement(
    'add_session',
    `insert into sessions (id, user_id, current_token_id, expires_at) values ($1, $2, $3, ${LIFETIME})`,
  );
  const addUser = statement<UserRow>(
    'add_user',
    `insert into users as u (id, username, email, password_hash) values ($1, $2, $3, $4) returning ${USER}`,
  );
  const findByAccount = {
    email: statement<UserWithPassword>(
      'find_by_email',
      `select ${USER}, u.password_hash from users u where u.email = $1`,
    ),
    username: statement<UserWithPassword>(
      'find_by_username',
      `select ${USER}, u.password_hash from users u where u.username = $1`,
    ),
  };
  const rotate = statement<UserRow>(
    'rotate',
    `update sessions s set current_token_id = $3, expires_at = ${LIFETIME} from users u
     where s.id = $1 and s.current_token_id = $2 and s.expires_at > now() and u.id = s.user_id returning ${USER}`,
  );
  const findById = statement<UserRow>('find_by_id', `select ${USER} from users u where u.id = $1`);

  const pair = (user: User, sid: string, jti: string): LoginResult => ({
    user,
    accessToken: tokens.signAccess({ sub: user.id, jti: randomUUID(), tokenType: 'access', user }),
    refreshToken: tokens.signRefresh({ sub: user.id, jti, sid, tokenType: 'refresh' }),
  });

  const openSession = async (user: User): Promise<LoginResult> => {
    const [sid, jti] = [randomUUID(), randomUUID()];
    await addSession(sid, user.id, jti);
    return pair(user, sid, jti);
  };

  return {
    register: async ({ username, email, password }: NewUser): Promise<LoginResult | null> => {
      const hash = await bcrypt.hash(password, BCRYPT_COST);
      const { rows } = await addUser(randomUUID(), username, email, hash);
      return rows[0] === undefined ? null : openSession(userOf(rows[0]));
    },

    logIn: async ({ account, password }: LogIn): Promise<LoginResult | null> => {
      const { rows } = await findByAccount[account.includes('@') ? 'email' : 'username'](account);
      const [row] = rows;
      if (row === undefined || !(await bcrypt.compare(password, row.password_hash))) return null;
      return openSession(userOf(row));
    },

    refresh: async (token: string): Promise<LoginResult | null> => {
      const claims = unlessRefused<RefreshClaims>(() => tokens.verifyRefresh(token));
      if (claims === null) return null;
      const jti = randomUUID();
      const { rows } = await rotate(claims.sid, claims.jti, jti);
      return rows[0] === undefined ? null : pair(userOf(rows[0]), claims.sid, jti);
    },

    /** Whom the header names, by the token alone. */
    authenticate: (authorization: string | undefined): AccessClaims | null =>
      authorization?.startsWith('Bearer ') === true
        ? unlessRefused(() => tokens.verifyAccess(authorization.slice('Bearer '.length)))
        : null,

    find: async (id: string): Promise<User | null> => {
      const { rows } = await findById(id);
      return rows[0] === undefined ? null : userOf(rows[0]);
    },
  };
};

export type Accounts = Awaited<ReturnType<typeof openAccounts>>;

const unlessRefused = <Claims>(verify: () => Claims): Claims | null => {
  try {
    return verify();
  } catch {
    return null;
  }
};
