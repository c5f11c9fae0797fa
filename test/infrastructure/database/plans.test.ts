import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mikroOrmSessionRepository } from '../../../src/adapters/session-repository/mikro-orm.ts';
import { mikroOrmUserRepository } from '../../../src/adapters/user-repository/mikro-orm.ts';
import type { SessionRepository } from '../../../src/application/ports/session-repository.ts';
import type { Session } from '../../../src/domain/session.ts';
import type { Database } from '../../../src/infrastructure/database/database.ts';
import { aRotation, aSession, aUser, NOW } from '../../support/builders.ts';
import { openEmbedded, openOnPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { plansOf } from '../../support/storage/plans.ts';

const USERS = 1_000;
/** From a thousand on, PostgreSQL prefers the index where there is one: a statement that cannot use it shows. */
const SESSIONS = 5_000;

/** Inserts users and distributes expired sessions among them, as after a long time without a purge. */
const fill = async ({ em }: Database): Promise<void> => {
  await em.execute(
    `insert into users (id, username, username_canonical, email, password_hash, created_at, updated_at)
      select lpad(n::text, 26, '0'), 'u' || n, 'u' || n, n || '@example.org', '', 0, 0 from generate_series(0, ?) n`,
    [USERS - 1],
  );
  await em.execute(
    `insert into sessions (id, user_id, current_token_id, rotated_at, created_at, expires_at)
      select lpad(n::text, 26, '0'), lpad((n % ?)::text, 26, '0'), lpad(n::text, 26, '0'), n, n, n from generate_series(1, ?) n`,
    [USERS, SESSIONS],
  );
  await em.execute('analyze');
};

type Context = { readonly repository: SessionRepository; readonly session: Session };

/** What requests and the purge do, each with the index that it must use. */
const WORK: Readonly<Record<string, [index: string, work: (context: Context) => Promise<unknown>]>> = {
  'finding a session': ['sessions_pkey', ({ repository, session }) => repository.find(session)],
  'finding a user with a session': ['sessions_pkey', ({ repository, session }) => repository.findWithUser(session)],
  'rotating a session': ['sessions_pkey', ({ repository, session }) => repository.rotate(aRotation(session))],
  'reverting a rotation': ['sessions_pkey', ({ repository, session }) => repository.revert(aRotation(session))],
  'listing the sessions of a user': [
    'sessions_user_id_index',
    ({ repository, session }) => repository.listByUser(session.userId, NOW),
  ],
  'opening a session': [
    'sessions_user_id_index',
    ({ repository, session: { userId } }) => repository.add(aSession({ userId })),
  ],
  'ending the other sessions of a user': [
    'sessions_user_id_index',
    ({ repository, session }) => repository.endByUser(session.userId, session.id),
  ],
  'ending a session': ['sessions_pkey', ({ repository, session }) => repository.end(session)],
  'purging expired sessions': ['sessions_purge_check_at_index', ({ repository }) => repository.purge(NOW, 1_000)],
};

const describePlans = (name: string, open: () => Promise<Database>) =>
  describe(`on ${name}, among ${SESSIONS} expired sessions`, () => {
    let database: Database;
    let session: Session;
    beforeAll(async () => {
      database = await open();
      await fill(database);
      const user = aUser();
      await mikroOrmUserRepository(database).add(user);
      session = aSession({ userId: user.id });
      await mikroOrmSessionRepository(database).add(session);
    });
    afterAll(() => database?.close());

    it.each(Object.entries(WORK))('%s uses an index and scans no table', async (_what, [index, work]) => {
      const plans = await plansOf(database.em, (em) =>
        work({ repository: mikroOrmSessionRepository({ em }), session }),
      );
      const scans = plans.flatMap((plan) => plan.scans);
      expect(scans.filter((scan) => scan.startsWith('Seq Scan'))).toEqual([]);
      expect(scans).toContainEqual(expect.stringMatching(`^(Index|Bitmap Index|Index Only) Scan ${index}$`));
    });

    it('is checked by plans that show the scan of a table', async () => {
      const plans = await plansOf(database.em, (em) =>
        em
          .getKysely<{ sessions: { current_token_id: string } }>()
          .selectFrom('sessions')
          .selectAll()
          .where('current_token_id', '=', session.currentTokenId)
          .execute(),
      );
      expect(plans.flatMap((plan) => plan.scans).join()).toMatch(/Seq Scan sessions/);
    });
  });

describePlans('PGlite', openEmbedded);
const server = TEST_DATABASE_URL;
if (server !== undefined) describePlans('PostgreSQL', () => openOnPostgresql(server));
