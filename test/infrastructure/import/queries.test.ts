import { expect, it } from 'vitest';
import { readLine } from '../../../src/infrastructure/import/line.ts';
import { codeBelow } from '../../support/checkout/documented-code.ts';
import { ALL_KINDS } from '../../support/storage/kinds.ts';
import { openDatabase } from '../../support/storage/open-database.ts';

const BCRYPT = '$2y$10$..ov9KSJYLYOpfGvyMGvZu5/ATQLItcb4h2q4U0b114TskjJegjze';
const ADA = { email: 'ada@example.org' };

/** The tables of each system with a user or two, as far as the query of its page reads them, and the lines that it makes. */
const SYSTEMS = [
  {
    page: 'next-auth',
    on: 'PostgreSQL',
    tables: `
      create table users (id serial, email varchar(255), "emailVerified" timestamptz);
      create table accounts ("userId" integer, provider varchar(255), "providerAccountId" varchar(255));
      insert into users (email, "emailVerified") values ('ada@example.org', now()), (null, null);
      insert into accounts values (1, 'google', '1122'), (1, 'discord', '3344')`,
    lines: [
      {
        ...{ ...ADA, id: '1', emailVerified: true },
        identities: [{ issuer: 'https://accounts.google.com', subject: '1122', provider: 'google' }],
      },
    ],
  },
  {
    page: 'spring',
    on: 'PostgreSQL',
    tables: `
      create table users (id serial, username varchar(50), password varchar(500), enabled boolean, email text);
      create table authorities (username varchar(50), authority varchar(50));
      insert into users (username, password, enabled, email) values ('ada', '{bcrypt}${BCRYPT}', false, 'ada@example.org');
      insert into authorities values ('ada', 'ROLE_ADMIN')`,
    lines: [
      {
        ...{ ...ADA, id: '1', username: 'ada', passwordHash: `{bcrypt}${BCRYPT}`, disabled: true },
        attributes: { roles: ['ROLE_ADMIN'] },
      },
    ],
  },
  {
    page: 'aspnet',
    on: 'PostgreSQL',
    tables: `
      create table "AspNetUsers" ("Id" text, "UserName" text, "Email" text, "EmailConfirmed" boolean, "PasswordHash" text,
        "TwoFactorEnabled" boolean, "LockoutEnd" timestamptz);
      create table "AspNetUserLogins" ("LoginProvider" text, "ProviderKey" text, "UserId" text);
      create table "AspNetUserTokens" ("UserId" text, "LoginProvider" text, "Name" text, "Value" text);
      insert into "AspNetUsers" values ('0f90', 'ada', 'ada@example.org', true, 'AQAAAA', true, now() + interval '5 minutes');
      insert into "AspNetUserLogins" values ('GitHub', '4711', '0f90');
      insert into "AspNetUserTokens" values ('0f90', '[AspNetUserStore]', 'AuthenticatorKey', 'JBSWY3DPEHPK3PXPJBSWY3DP')`,
    lines: [
      {
        ...{ ...ADA, id: '0f90', username: 'ada', emailVerified: true, passwordHash: 'AQAAAA', disabled: false },
        identities: [{ issuer: 'https://github.com', subject: '4711', provider: 'github' }],
        factors: [{ type: 'totp', secret: 'JBSWY3DPEHPK3PXPJBSWY3DP' }],
      },
    ],
  },
  {
    page: 'wordpress',
    on: 'MariaDB',
    tables: `
      create table wp_users (ID bigint unsigned, user_login varchar(60), user_pass varchar(255), user_email varchar(100), user_registered datetime);
      insert into wp_users values (1, 'ada', '$wp${BCRYPT}', 'ada@example.org', '2024-02-29 01:02:03'),
        (2, 'bob', '5f4dcc3b5aa765d61d8327deb882cf99', 'bob@example.org', '2024-02-29 01:02:03')`,
    lines: [
      { ...ADA, id: '1', username: 'ada', passwordHash: `$wp${BCRYPT}`, createdAt: Date.UTC(2024, 1, 29, 1, 2, 3) },
      { id: '2', passwordHash: 'md5$$5f4dcc3b5aa765d61d8327deb882cf99' },
    ],
  },
];

const CASES = ALL_KINDS.flatMap(({ on, empty }) =>
  SYSTEMS.filter((system) => system.on === on).map((system) => ({ ...system, empty })),
);

it.each(CASES)('the query of docs/moving makes lines that are read: $page', async ({ page, empty, tables, lines }) => {
  const { em, close } = await openDatabase(await empty(), { migrate: false });
  for (const statement of tables.split(';')) await em.execute(statement);
  const [query = ''] = codeBelow(`docs/moving/${page}.md`, 'Export', 'sql');
  const rows: readonly object[] = await em.execute(query);
  await close();
  const read = rows.map((row) => {
    const [value] = Object.values(row);
    return readLine(typeof value === 'string' ? JSON.parse(value) : value);
  });
  expect(read).toMatchObject(lines);
});
