import { nodeCryptoTokenSigner } from '../../src/adapters/crypto/jws.ts';
import { refreshClaims } from '../../src/domain/tokens.ts';
import { query } from '../parts/parts.ts';
import type { Credentials, Person } from '../systems/system.ts';
import { KEYS } from '../systems/systems.ts';

/** Milliseconds over which the sessions were last refreshed: five of the seven days that they live. */
const SPREAD = 5 * 24 * 60 * 60 * 1_000;
/** Milliseconds over which the events happened: EVENTS_RETENTION. */
const RETENTION = 180 * 24 * 60 * 60 * 1_000;

/** What a user has: devices, and what happened to the account within half a year. */
export const SESSIONS_EACH = 2;
export const EVENTS_EACH = 5;

/** ULIDs that count: `kind` keeps those of users, sessions, tokens and events apart. */
const ulid = (kind: string, number = 'n'): string => `'01K${kind}' || lpad((${number})::text, 22, '0')`;
/** The number of the user of a row: neighbours belong to different users, as rows do that are in the order of time. */
const OWNER = '1 + n::bigint * 7919 % $1::int';

/** Copies of the one user that there is, of its session and of an event. A column that a copy may share is copied whatever it is. */
const USERS = `
  insert into users select copy.* from users u, generate_series(1, $1::int) n,
    lateral jsonb_populate_record(u, jsonb_build_object(
      'id', ${ulid('A')}, 'username', 'one.' || n, 'username_key', 'one.' || n, 'email', 'one.' || n || '@example.org',
      'password_changed_at', 0)) copy`;
const SESSIONS = `
  insert into sessions select copy.* from sessions s, generate_series(1, $1::int * ${SESSIONS_EACH}) n,
    lateral (select (${SPREAD}.0 * n / ($1::int * ${SESSIONS_EACH}))::bigint as ago) spread,
    lateral jsonb_populate_record(s, jsonb_build_object(
      'id', ${ulid('B')}, 'user_id', ${ulid('A', OWNER)}, 'current_token_id', ${ulid('C')}, 'created_at', s.created_at - ago,
      'rotated_at', s.rotated_at - ago, 'expires_at', s.expires_at - ago, 'purge_check_at', s.expires_at - ago)) copy`;
const EVENTS = `
  insert into events select copy.* from (select event from events event limit 1) one, generate_series(1, $1::int * ${EVENTS_EACH}) n,
    lateral jsonb_populate_record(one.event, jsonb_build_object(
      'id', ${ulid('D')}, 'user_id', ${ulid('A', OWNER)}, 'kind', 'logged-in', 'method', 'password',
      'counted_by', 'logged-in AbCdEfGhIjKlMnOpQrStUv password ' || 1700000000000 + n,
      'at', (one.event).at - ${RETENTION} + (${RETENTION}.0 * n / ($1::int * ${EVENTS_EACH}))::bigint)) copy`;

const withOptions = (url: string, options: string): string => {
  const changed = new URL(url);
  changed.searchParams.set('options', options);
  return changed.href;
};

/** Fills the tables, in which there is one user with one session, until there are so many more users with what they have. */
export const addUsers = async (url: string, count: number): Promise<void> => {
  // Without the checks of foreign keys, which take longer than the rows.
  for (const statement of [USERS, SESSIONS, EVENTS])
    await query(withOptions(url, '-c session_replication_role=replica'), statement, [count]);
  for (const table of ['users', 'sessions', 'events']) await query(url, `vacuum analyze ${table}`);
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
