import { describe, expect, it, onTestFinished } from 'vitest';
import { CONFIG_VARIABLES, parseConfig } from '../../../src/infrastructure/config.ts';
import { isStorageUrl, STORAGES, storageFor, storageOf } from '../../../src/infrastructure/storages/storages.ts';
import { aRotation, aSession, aUser } from '../../support/builders.ts';
import { postgresOfTheTests } from '../../support/servers/of-the-tests.ts';
import { createDatabase } from '../../support/storage/databases.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

type Kind = keyof typeof STORAGES;
type Env = Readonly<Record<string, string>>;

/** For each row of the table, an environment that selects it and a place to open it; `null` where there is none. */
const PLACES: Record<Kind, () => Promise<Env | null>> = {
  memory: async () => ({ DATABASE_URL: 'memory:' }),
  embedded: async () => {
    const { path, remove } = temporaryDirectory();
    onTestFinished(remove);
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

describe.each(Object.keys(STORAGES) as Kind[])('the storage %s', (kind) => {
  it('opens, keeps a user and a session, and closes', async ({ skip }) => {
    const env = await PLACES[kind]();
    if (env === null) return skip('the server that it needs is missing');
    const { database } = parseConfig(env);
    expect(database.kind).toBe(kind);
    const opened = await storageOf(database).open(database, {
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
      expect(await sessions.rotate(aRotation(session))).toHaveProperty('id');
      for (const { ping } of opened.checks) await ping();
    } finally {
      await opened.close();
    }
    for (const { ping } of opened.checks) await expect(ping()).rejects.toThrow();
  });

  it('is selected by no other URL, and the documentation of DATABASE_URL has its text', () => {
    const others = Object.entries(STORAGES).filter(([name]) => name !== kind);
    for (const [, { isFor }] of others) expect(EXAMPLES[kind].filter(isFor)).toEqual([]);
    for (const url of EXAMPLES[kind]) expect(storageFor(url)).toBe(STORAGES[kind]);
    const variable = CONFIG_VARIABLES.find(({ name }) => name === 'DATABASE_URL');
    expect(`${variable?.default} ${variable?.meaning}`).toContain(STORAGES[kind].meaning);
  });
});

const EXAMPLES: Record<Kind, (string | undefined)[]> = {
  memory: ['memory:'],
  embedded: [undefined],
  postgresql: ['postgres://db/x', 'postgresql://u:p@db:5432/x'],
};

describe('a URL of no storage', () => {
  it.each(['mysql://db/x', 'memory', 'memory:x', 'postgresql', 'sqlite:x.db'])('is none: %s', (url) => {
    expect(isStorageUrl(url)).toBe(false);
  });
});

describe('the command migrate', () => {
  it('is refused by a storage without a schema, and names the variable', async () => {
    await expect(STORAGES.memory.migrate({ kind: 'memory' }, () => undefined)).rejects.toThrow(
      /^DATABASE_URL: memory: has no schema/,
    );
  });
});
