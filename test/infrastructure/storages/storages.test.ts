import { describe, expect, it, onTestFinished } from 'vitest';
import type { DatabaseOptions } from '../../../src/infrastructure/config/stores.ts';
import { ConfigError, parseConfig } from '../../../src/infrastructure/config.ts';
import { openSql } from '../../../src/infrastructure/storages/sql.ts';
import { aRotation, aSession, aUser } from '../../support/builders.ts';
import { postgresOfTheTests } from '../../support/servers/of-the-tests.ts';
import { createDatabase } from '../../support/storage/databases.ts';
import { copyEmbedded } from '../../support/storage/embedded-template.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

type Kind = DatabaseOptions['kind'];
type Env = Readonly<Record<string, string>>;

/** For each storage, an environment that selects it and a place to open it; `null` where there is none. */
const PLACES: Record<Kind, () => Promise<Env | null>> = {
  embedded: async () => {
    const { path, remove } = temporaryDirectory();
    onTestFinished(remove);
    await copyEmbedded(path, { migrated: false });
    return { DATA_DIR: path };
  },
  postgresql: async () => {
    const server = postgresOfTheTests();
    if (server === undefined) return null;
    const { url, drop } = await createDatabase(server);
    onTestFinished(drop);
    return { DATABASE_URL: url };
  },
};

describe.each(Object.keys(PLACES) as Kind[])('the storage %s', (kind) => {
  it('opens, keeps a user and a session, and closes', async ({ skip }) => {
    const env = await PLACES[kind]();
    if (env === null) return skip('the server that it needs is missing');
    const { database } = parseConfig(env);
    expect(database.kind).toBe(kind);
    const opened = await openSql(database, {
      migrate: true,
      onCreate: () => undefined,
      logger: { info: () => undefined, warn: () => undefined },
    });
    try {
      const user = aUser();
      await opened.users.add(user);
      expect(await opened.users.findById(user.id)).toEqual(user);
      const sessions = opened.sessionsWithin({ budget: 5_000 });
      const session = aSession({ userId: user.id });
      await sessions.add(session);
      expect(await sessions.rotate(aRotation(session))).toHaveProperty('user');
      for (const { ping } of opened.checks) await ping();
    } finally {
      await opened.close();
    }
    for (const { ping } of opened.checks) await expect(ping()).rejects.toThrow();
  });
});

describe('a URL of no storage', () => {
  it.each(['mysql://db/x', 'memory', 'memory:', 'postgresql', 'sqlite:x.db'])('is none: %s', (url) => {
    expect(() => parseConfig({ DATABASE_URL: url })).toThrow(ConfigError);
  });
});
