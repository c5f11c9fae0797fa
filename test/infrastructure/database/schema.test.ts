import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { DatabaseOptions } from '../../../src/adapters/mikro-orm/options.ts';
import { storageOver } from '../../../src/adapters/records/storage.ts';
import { TABLES, type TableName } from '../../../src/application/storage/tables.ts';
import { refreshClaims } from '../../../src/domain/tokens.ts';
import { application } from '../../support/application.ts';
import { ROOT, readText } from '../../support/checkout/repository.ts';
import { plainTokenSigner } from '../../support/fakes.ts';
import { catalogOf } from '../../support/storage/catalogs.ts';
import { ALL_KINDS } from '../../support/storage/kinds.ts';
import { openDatabase } from '../../support/storage/open-database.ts';

const RELEASES = readdirSync(`${ROOT}test/released`);

/** What a migration could have forgotten. */
const DIFFERENCES = [
  ['a column', 'alter table users add column planted text'],
  ['a table', 'create table planted (id text)'],
  ['an index', 'create index planted on users (created_at)'],
  ['a unique index', 'create unique index planted on users (created_at)'],
] as const;

const open = (options: DatabaseOptions, migrate: boolean) => openDatabase(options, { migrate });

describe.each(ALL_KINDS)('the schema on $on', ({ kind, empty }) => {
  /** A database as a release has it. */
  const released = async (release: string): Promise<DatabaseOptions> => {
    const options = await empty();
    const { em, close } = await openDatabase(options, { migrate: false });
    for (const statement of readText(`test/released/${release}/${kind}.sql`).split(/;\n/))
      if (statement !== '') await em.execute(statement);
    await close();
    return options;
  };

  it.each(RELEASES)('of version %s becomes that of a new database, and keeps its rows', async (release) => {
    const upgraded = await open(await released(release), true);
    expect(await catalogOf(upgraded, kind)).toEqual(await catalogOf(await open(await empty(), true), kind));
    const { records } = upgraded;
    const rowsIn = async (table: TableName) =>
      (await records.list(table, { order: TABLES[table].key as never })).length;
    const counts = await Promise.all(
      (Object.keys(TABLES) as TableName[]).map(async (name) => [name, await rowsIn(name)]),
    );
    expect(Object.fromEntries(counts)).toMatchObject({
      users: 1,
      sessions: 2,
      events: 2,
      links: 1,
      outbox: 1,
      passkeys: 1,
      factors: 1,
    });
  });

  it.each(RELEASES)('of version %s becomes one over which its sessions are refreshed', async (release) => {
    const storage = storageOver((await open(await released(release), true)).records);
    const tokens = plainTokenSigner();
    const { refresh, clock } = application({ ...storage, tokens });
    const user = (await storage.users.findByUsername('ada')) ?? expect.unreachable();
    const [session = expect.unreachable()] = (await storage.sessions.listByUser(user.id, clock.now())).filter(
      ({ deviceKey }) => deviceKey === null,
    );
    const claims = refreshClaims(session);
    const token = await tokens.signRefresh({ claims, sessionId: session.id, rotation: session.rotation });
    clock.advance(60_000);
    const { refreshToken } = await refresh([token]);
    clock.advance(60_000);
    expect(await refresh([refreshToken])).toHaveProperty('accessToken');
  });

  it.each(DIFFERENCES)('is seen to differ by %s', async (_what, change) => {
    const database = await open(await empty(), true);
    const before = await catalogOf(database, kind);
    await database.em.execute(change);
    expect(await catalogOf(database, kind)).not.toEqual(before);
  });
});
