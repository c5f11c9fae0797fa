import { nodeCryptoTokenSigner } from '../../src/adapters/crypto/token-signer.ts';
import { refreshClaims } from '../../src/domain/tokens.ts';
import { query } from '../parts/parts.ts';
import type { Credentials, Person } from '../systems/system.ts';
import { KEYS } from '../systems/systems.ts';

/** Milliseconds over which the sessions were last refreshed: five of the seven days that they live. */
const SPREAD = 5 * 24 * 60 * 60 * 1_000;

/** ULIDs that count: `kind` keeps those of users, sessions and tokens apart. */
const ulid = (kind: string): string => `'01K${kind}' || lpad(n::text, 22, '0')`;

/** Copies of the one user that there is, and of its session. A column that a copy may share is copied whatever it is. */
const USERS = `
  insert into users select copy.* from users u, generate_series(1, $1::int) n,
    lateral jsonb_populate_record(u, jsonb_build_object(
      'id', ${ulid('A')}, 'username', 'one.' || n, 'username_canonical', 'one.' || n, 'email', 'one.' || n || '@example.org',
      'password_changed_at', 0)) copy`;
const SESSIONS = `
  insert into sessions select copy.* from sessions s, generate_series(1, $1::int) n,
    lateral (select (${SPREAD}.0 * n / $1::int)::bigint as ago) spread,
    lateral jsonb_populate_record(s, jsonb_build_object(
      'id', ${ulid('B')}, 'user_id', ${ulid('A')}, 'current_token_id', ${ulid('C')}, 'created_at', s.created_at - ago,
      'rotated_at', s.rotated_at - ago, 'expires_at', s.expires_at - ago, 'purge_check_at', s.expires_at - ago)) copy`;

/** Fills the tables, in which there is one user with one session, until there are so many more. */
export const addUsersWithSessions = async (url: string, count: number): Promise<void> => {
  await query(url, USERS, [count]);
  await query(url, SESSIONS, [count]);
  for (const table of ['users', 'sessions']) await query(url, `vacuum analyze ${table}`);
  await query(url, 'checkpoint');
};

/** So many of the people who were added, at random, with the refresh token that their session waits for. */
export const someOfThem = async (url: string, count: number): Promise<Credentials[]> => {
  const rows = await query(
    url,
    `select s.id, s.user_id, s.current_token_id, s.rotation, s.rotated_at, s.expires_at, u.username, u.email
     from sessions s join users u on u.id = s.user_id where u.username like 'one.%' order by random() limit $1`,
    [count],
  );
  const { signRefresh } = await nodeCryptoTokenSigner(KEYS);
  return Promise.all(
    rows.map(async (row): Promise<Credentials> => {
      const person: Person = { username: String(row.username), email: String(row.email) };
      const claims = refreshClaims({
        userId: String(row.user_id),
        currentTokenId: String(row.current_token_id),
        rotatedAt: Number(row.rotated_at),
        expiresAt: Number(row.expires_at),
      });
      const token = await signRefresh({ claims, sessionId: String(row.id), rotation: Number(row.rotation) });
      return { person, cookie: `refresh_token=${token}`, accessToken: '' };
    }),
  );
};
