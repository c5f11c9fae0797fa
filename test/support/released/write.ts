import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { schemaStatements } from '../../../src/adapters/mikro-orm/entities.ts';
import { kindOf, openDatabase } from '../../../src/adapters/mikro-orm/open-database.ts';
import type { DatabaseOptions } from '../../../src/adapters/mikro-orm/options.ts';
import { columnsOf, ROW_VERSION, toSql } from '../../../src/adapters/mikro-orm/statements.ts';
import { storageOver } from '../../../src/adapters/records/storage.ts';
import { putLink, storeRecoveryCodes } from '../../../src/application/storage/credentials.ts';
import { addMessages } from '../../../src/application/storage/outbox.ts';
import type { Records } from '../../../src/application/storage/records.ts';
import { TABLES, type TableName } from '../../../src/application/storage/tables.ts';
import { aFactor, aLink, aMessage, anEvent, aPasskey, aRememberedDevice, aSession, aUser } from '../builders.ts';
import { temporaryDirectory } from '../storage/temporary-directory.ts';
import { storeEvents } from '../stored-events.ts';

/**
 * Writes to `test/released` the OpenAPI document, and statements that make a database of this version with a few rows. It runs
 * for each release: `node test/support/released/write.ts 1.0.0`.
 */
const [, , release = ''] = process.argv;
const { path, remove } = temporaryDirectory();
const SQLITE = { kind: 'sqlite', path: join(path, 'rows.sqlite'), synchronous: 'normal', tablePrefix: '' } as const;
/** Nothing connects to these URLs. */
const POSTGRESQL = {
  kind: 'postgresql',
  url: 'postgresql://127.0.0.1/released',
  poolSize: 1,
  connectionTimeout: 1,
  statementTimeout: 1,
  idleTimeout: 1,
  tablePrefix: '',
} as const;
const MARIADB = { ...POSTGRESQL, kind: 'mariadb', url: 'mariadb://127.0.0.1/released' } as const;

/** The time at which the session was opened, which is that of `application()`. */
const NOW = Date.UTC(2026, 0, 1);

const addRows = async (records: Records): Promise<void> => {
  const stores = storageOver(records);
  const user = aUser({ username: 'Ada', email: 'ada@example.org', createdAt: NOW, updatedAt: NOW, locale: 'de' });
  const of = { userId: user.id };
  const at = { createdAt: NOW, authenticatedAt: NOW, expiresAt: NOW + 7 * 86_400_000, knownAt: null };
  const session = {
    ...of,
    ...at,
    rotatedAt: NOW,
    burstStartedAt: NOW,
    userAgent: `Ada's browser`,
    address: '192.0.2.0/24',
  };
  await stores.users.add(user);
  await stores.sessions.add(aSession(session));
  await stores.sessions.add(aSession({ ...session, deviceKey: 'the key of a page', proofs: [3, 1] }));
  await storeEvents(stores, [anEvent(of), anEvent({ ...of, kind: 'logged-in', address: '192.0.2.0/24' })]);
  await putLink(stores.records, aLink({ ...of, email: user.email }));
  await addMessages(stores, [aMessage({ ...of, to: user.email })]);
  await stores.records.insert('passkeys', aPasskey({ ...of, lastUsedAt: NOW }));
  await stores.records.insert('factors', aFactor(of));
  await storeRecoveryCodes(stores.records, user.id, ['hash of a code']);
  await stores.records.insert('rememberedDevices', aRememberedDevice(of));
  await records.insert('usedValues', { id: 'a value', expiresAt: NOW });
};

const literal = (value: unknown): string =>
  typeof value === 'string' ? `'${value.replaceAll(`'`, `''`)}'` : String(value);

type Form = { readonly quote: string; readonly toBoolean: (value: boolean) => unknown };

const insertsOf = async (records: Records, { quote, toBoolean }: Form): Promise<string[]> => {
  const statements: string[] = [];
  for (const name of Object.keys(TABLES) as TableName[]) {
    const table = TABLES[name];
    const columns = columnsOf(table);
    const names = [...columns.map((column) => `${quote}${column.name}${quote}`), ROW_VERSION].join(', ');
    for (const row of await records.list(name, { order: table.key as never })) {
      const values = columns.map((column) => literal(toSql(column, Reflect.get(row, column.member), toBoolean)));
      statements.push(`insert into ${table.name} (${names}) values (${[...values, row.version].join(', ')})`);
    }
  }
  return statements;
};

const schemaOf = async (options: DatabaseOptions): Promise<string[]> => {
  const schema = await schemaStatements(await kindOf(options), '');
  return [
    'create table tandem_migrations (name varchar(100) primary key)',
    `insert into tandem_migrations (name) values ('tables')`,
    ...schema,
  ];
};

const { records, close } = await openDatabase(SQLITE, { migrate: true });
await addRows(records);
const directory = new URL(`../../released/${release}/`, import.meta.url);
mkdirSync(directory, { recursive: true });
for (const [options, form] of [
  [SQLITE, { quote: '"', toBoolean: Number }],
  [POSTGRESQL, { quote: '"', toBoolean: Boolean }],
  [MARIADB, { quote: '`', toBoolean: Number }],
] as const) {
  const statements = [...(await schemaOf(options)), ...(await insertsOf(records, form))];
  writeFileSync(new URL(`${options.kind}.sql`, directory), `${statements.join(';\n')};\n`);
}
// The document is on one line, because programs compare it and nobody reads it.
const document = JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'));
writeFileSync(new URL('openapi.json', directory), `${JSON.stringify(document)}\n`);
await close();
remove();
