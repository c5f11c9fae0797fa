import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventsOf, listEnded } from '../../src/application/storage/events.ts';
import { openSql } from '../../src/infrastructure/open-sql.ts';
import { aSession, aUser } from '../support/builders.ts';
import { spawnCommand } from '../support/processes/commands.ts';
import { runService } from '../support/processes/process.ts';
import { signUpAt } from '../support/processes/sessions-under-load.ts';
import { onSqlite } from '../support/storage/databases.ts';
import { KINDS } from '../support/storage/kinds.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const USERS = 24;
/** Twelve steps. A user has at most fifty. */
const SESSIONS = 1_200;
const HOUR = 3_600_000;
/** Milliseconds; only catches hangs. */
const SOON = { timeout: 60_000 };
const LATECOMER = { username: 'latecomer', email: 'latecomer@example.org', password: 'correct horse battery' };

/** A database with many open sessions, and what a process needs to use it. */
const filled = async (kind: (typeof KINDS)[number]) => {
  const directory = temporaryDirectory();
  const options = kind.kind === 'sqlite' ? onSqlite(join(directory.path, 'database.sqlite')) : await kind.empty();
  const storage = await openSql(options, { migrate: true });
  onTestFinished(storage.close);
  const users = Array.from({ length: USERS }, () => aUser());
  const at = Date.now();
  await storage.transactions.run(async (stores) => {
    for (const user of users) await stores.users.add(user);
    for (let count = 0; count < SESSIONS; count += 1)
      await stores.sessions.add(
        aSession({
          ...{ userId: users[count % USERS]?.id ?? '', createdAt: at - HOUR, authenticatedAt: at - HOUR },
          expiresAt: at + HOUR,
        }),
      );
  });
  const open = async () => (await storage.sessions.listAll(null, 2 * SESSIONS)).length;
  const env = { DATA_DIR: directory.path, BCRYPT_COST: '4', ...('url' in options && { DATABASE_URL: options.url }) };
  return { ...storage, users, open, env };
};

describe('the end of all sessions', () => {
  it.each(KINDS.map((each) => [each.on, each] as const))(
    'on %s holds at once, and is carried out once by the instances, also if one is killed meanwhile',
    async (_on, kind) => {
      const { open, env, users, sessions, records } = await filled(kind);
      const [first = expect.unreachable()] = await sessions.listAll(null, 1);
      expect(await sessions.find(first)).toEqual(first);
      const reason = 'A leak.';
      const command = spawnCommand(['users', 'end-sessions', '--all', '--reason', reason, '--yes'], env);
      expect(await command.outcome).toMatchObject({ code: 0 });
      expect([await open(), await sessions.find(first)]).toEqual([SESSIONS, null]);

      const start = async () => {
        const service = await runService(env);
        return service;
      };
      const killed = await start();
      await expect.poll(open, { interval: 5 }).toBeLessThan(SESSIONS);
      await killed.stop('SIGKILL');
      expect(await open()).toBeGreaterThan(0);
      const [{ url }] = await Promise.all([start(), ...(kind.kind === 'sqlite' ? [] : [start()])]);
      const later = await signUpAt(url, LATECOMER);
      await expect.poll(open, SOON).toBe(1);
      await expect.poll(() => records.list('massEndings', { order: ['id'] }), SOON).toEqual([]);
      expect((await later.refresh(url)).status).toBe(200);
      const ended = await Promise.all(
        users.map(({ id }) => eventsOf(records, { userId: id, before: null, limit: SESSIONS })),
      );
      const notes = ended.flat().map(({ kind, sessionId, note }) => [kind, note, sessionId]);
      expect(new Set(notes.map(([, , sessionId]) => sessionId)).size).toBe(SESSIONS);
      expect(notes).toEqual(Array.from({ length: SESSIONS }, () => ['session-ended', reason, expect.any(String)]));
      const everybody = { userId: null, sessionId: null };
      expect(await listEnded(records, 0, 9)).toMatchObject([everybody, everybody]);
    },
  );
});
