import { DummyDriver, Kysely, MysqlAdapter, MysqlIntrospector, MysqlQueryCompiler } from 'kysely';
import { describe, expect, it } from 'vitest';
import { errorTranslator, MYSQL } from '../../../src/adapters/mikro-orm/dialects.ts';
import { schemaStatements } from '../../../src/adapters/mikro-orm/entities.ts';
import { importOptional, mariadbKind, mysqlKind, mysqlOptions } from '../../../src/adapters/mikro-orm/mysql.ts';
import { mikroOrmRecords } from '../../../src/adapters/mikro-orm/records.ts';
import { type Sql, sqlTables } from '../../../src/adapters/mikro-orm/statements.ts';
import { violates } from '../../../src/application/storage/records.ts';
import { rejection } from '../../contracts/hooks.ts';
import { onMariadb } from '../../support/storage/databases.ts';

describe('the URL of a MariaDB or MySQL', () => {
  it('names the server, the user and the database', () => {
    const options = mysqlOptions(onMariadb('mariadb://us%40er:p%2Fw%3A@db.example:3307/my%20db'));
    expect(options).toMatchObject({ host: 'db.example', port: 3307, user: 'us@er', password: 'p/w:', dbName: 'my db' });
    expect(options.driverOptions).not.toHaveProperty('ssl');
    expect(mysqlOptions(onMariadb('mysql://user:word@[::1]/tandem'))).toMatchObject({ host: '::1', port: 3306 });
    expect(() => mysqlOptions(onMariadb('mysql://user:word@db.example'))).toThrow('names no database');
  });

  it('asks for TLS, whose certificate is verified', () => {
    const { driverOptions } = mysqlOptions(onMariadb('mysql://user:word@db.example/tandem?ssl=true'));
    expect(driverOptions).toMatchObject({ ssl: { rejectUnauthorized: true, verifyIdentity: true } });
  });
});

it('a server of the other kind is reported with the form of its URL', async () => {
  const kind = await mariadbKind(onMariadb('mariadb://user:word@db.example/tandem'));
  expect(kind.openFailure({ code: 'ER_UNKNOWN_SYSTEM_VARIABLE', errno: 1193 })).toContain('begins with mysql://');
  expect(kind.openFailure({ code: 'ECONNREFUSED', errno: -111 })).toMatch(/opened: ECONNREFUSED$/);
});

describe('a driver that has to be installed', () => {
  it('is named when it is missing', async () => {
    const missing = 'a-package-that-nobody-has';
    await expect(importOptional('@mikro-orm/mariadb', () => import(missing))).rejects.toThrow(
      'npm install @mikro-orm/mariadb',
    );
  });

  it('reports any other failure as it is', async () => {
    const failure = new Error('of the driver');
    await expect(importOptional('@mikro-orm/mariadb', () => Promise.reject(failure))).rejects.toBe(failure);
  });
});

/** A Kysely that sends nothing, and the texts of the statements that it would send. */
const recordingMysql = () => {
  const sent: string[] = [];
  const db: Sql = new Kysely({
    dialect: {
      createAdapter: () => new MysqlAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (own) => new MysqlIntrospector(own),
      createQueryCompiler: () => new MysqlQueryCompiler(),
    },
    log: ({ query }) => void sent.push(query.sql),
  });
  return { db, sent };
};

// The contracts run over MariaDB, also without what MySQL has not.
describe('on MySQL, which does not run here', () => {
  it('rows are removed one by one, since deleted ones are not returned', async () => {
    const { db, sent } = recordingMysql();
    const row = { expiresAt: 0, version: 0 };
    await mikroOrmRecords(db, MYSQL, 'my_').remove('usedValues', [
      { ...row, id: 'a' },
      { ...row, id: 'b' },
    ]);
    const text = 'delete from `my_used_values` where (`id` = ? and `version` = ?)';
    expect(sent).toEqual([text, text]);
  });

  it('a unit locks rows for update', async () => {
    const { db, sent } = recordingMysql();
    await mikroOrmRecords(db, MYSQL).unit((inside) => inside.lock('usedValues', { id: 'a' }));
    const locking = 'select `id`, `expires_at`, `version` from `used_values` where `id` = ? for update';
    expect(sent).toEqual(['begin', locking, 'commit']);
  });

  it.each([
    ["Duplicate entry 'x' for key 'my_users.my_users_email'", 'users_email'],
    ["Duplicate entry 'x' for key 'my_users.PRIMARY'", 'users_pkey'],
    ["Duplicate entry 'a' for key 'my_users_email' for key 'my_users_username'", 'users_username'],
  ])('%s names the index', async (sqlMessage, index) => {
    const insert = () => Promise.reject({ errno: 1062, sqlMessage });
    const error = await rejection(errorTranslator(MYSQL.failureOf)(insert, sqlTables('my_')('users')));
    expect(violates(error, index)).toBe(true);
  });

  it('each table is created by one statement, whose texts are compared by their bytes', async () => {
    const kind = await mysqlKind({ ...onMariadb('mysql://user:word@db.example/tandem'), kind: 'mysql' });
    const texts = await schemaStatements(kind, 'my_');
    expect(texts.length).toBeGreaterThan(10);
    for (const text of texts) {
      expect(text).toMatch(/^create table if not exists `my_/);
    }
    const [users = ''] = texts.filter((text) => text.includes('`my_users`') && !text.includes('references'));
    expect(users).toContain('`email` varbinary(1500) not null');
    expect(users).toContain('`password_hash` longtext collate utf8mb4_0900_bin not null');
    expect(users).toContain('unique `my_users_email` (`email`)');
  });
});
