import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { passwordHasher } from '../../../src/adapters/crypto/password-hasher.ts';
import { factorSecrets } from '../../../src/adapters/crypto/secrets.ts';
import type { DatabaseOptions } from '../../../src/adapters/mikro-orm/options.ts';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { factorsOf, findIdentity } from '../../../src/application/storage/credentials.ts';
import { eventsOf } from '../../../src/application/storage/events.ts';
import { messagesOf } from '../../../src/application/storage/outbox.ts';
import { NO_PASSWORD } from '../../../src/domain/password.ts';
import { users } from '../../../src/infrastructure/commands/users.ts';
import { importUsers } from '../../../src/infrastructure/import/import-users.ts';
import type { LineInput } from '../../../src/infrastructure/import/line.ts';
import { aUser, NOW } from '../../support/builders.ts';
import { runHere } from '../../support/processes/commands.ts';
import { PRODUCTION } from '../../support/processes/environments.ts';
import { ALL_KINDS, emptyFile } from '../../support/storage/kinds.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

const directory = temporaryDirectory();
const { newPath } = directory;

const KEY = Buffer.alloc(32, 7);
const HASH = '$2b$04$abcdefghijklmnopqrstuuDE6qmqOVHJJDjoIxMKIZJRYOQbJ6tvC';
const SECRET = 'JBSWY3DPEHPK3PXP';
const GOOGLE = { issuer: 'https://accounts.google.com', subject: '1234', provider: 'google' };

const fileOf = (...lines: (LineInput | object | string)[]): string => {
  const path = newPath();
  writeFileSync(path, lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  return path;
};

/** The command over stores in memory. */
const inMemory = () => {
  const stores = memoryStorage();
  const command = users({ storage: stores, ports: { secrets: { factors: factorSecrets([KEY]) } } });
  const env = { DATA_DIR: '/nonexistent', BCRYPT_COST: '4' };
  const run = (...args: string[]) => runHere(['users', 'import', ...args], env, { command });
  return { stores, run };
};

describe('npm run users -- import', () => {
  it('stores everything of a line, without an event or a mail', async () => {
    const { stores, run } = inMemory();
    const line = {
      ...{ id: 'auth0|1', username: 'Ada', email: 'Ada@example.org', emailVerified: true, passwordHash: HASH },
      ...{ createdAt: '2020-01-02T03:04:05.000Z', locale: 'de', attributes: { roles: ['a'] }, identities: [GOOGLE] },
      ...{ factors: [{ secret: SECRET }], disabled: true },
    };
    const map = newPath();
    expect(await run(fileOf(line), '--yes', '--map', map)).toMatchObject({
      status: 0,
      stdout: '1 in, 0 already in, 0 refused, 0 left out\n',
    });
    const ada = await stores.users.findByEmail('ada@example.org');
    const time = expect.any(Number);
    expect(ada).toMatchObject({
      ...{ username: 'Ada', email: 'ada@example.org', passwordHash: `bcrypt$${HASH}`, locale: 'de' },
      ...{ createdAt: Date.UTC(2020, 0, 2, 3, 4, 5), emailVerifiedAt: time, disabledAt: time, secondFactorAt: time },
      ...{ attributes: { roles: ['a'] }, passwordChangedAt: 0 },
    });
    const id = ada?.id ?? '';
    expect(JSON.parse(readFileSync(map, 'utf8'))).toEqual({ old: 'auth0|1', new: id });
    expect(await findIdentity(stores.records, GOOGLE)).toMatchObject({ ...GOOGLE, userId: id, lastUsedAt: null });
    const [app] = await factorsOf(stores.records, id);
    expect(factorSecrets([KEY]).decrypt(app?.secret ?? '', id)).toBe(SECRET);
    expect(app?.confirmedAt).toEqual(time);
    expect(await eventsOf(stores.records, { userId: id, before: null, limit: 1 })).toEqual([]);
    expect(await messagesOf(stores.records, id)).toEqual([]);
  });

  it('refuses lines by their numbers, and stores the others; a second run finds those, and nothing twice', async () => {
    const { stores, run } = inMemory();
    const taken = aUser();
    await stores.users.add(taken);
    const file = fileOf(
      { email: 'ada@example.org', id: '1', identities: [GOOGLE] },
      { email: 'ADA@example.org', id: '2' },
      '',
      { email: 'bob@example.org', passwordHash: 'SECRET' },
      'SECRET',
      { email: taken.email },
      { email: 'eve@example.org', identities: [GOOGLE] },
      { email: 'ivy@example.org', id: taken.id },
      { email: 'ada@example.org', id: '1' },
      { email: 'zoe@example.org', id: '01M805M084GXA5E2JTR4FKH6WN' },
      { email: 'ann@example.org', identities: [{ issuer: 'https://[', subject: '1' }] },
      { email: 'lea@example.org', identities: [1, 2].map(() => ({ issuer: 'https://a.example', subject: '1' })) },
    );
    const refusals = [
      ...['2: email: has an account', '4: passwordHash: has none of the known forms', '5: is no JSON in UTF-8'],
      ...['6: email: has an account', '7: identities.0: is linked to another account'],
      ...['8: id: has an account with another address', '11: identities.0.issuer: must be a URL of https'],
    ].map((line) => `${file}:${line.replace(' ', ' refused: ')}`);
    const map = newPath();
    const told = async (...options: string[]) => {
      const { status, stdout } = await run(file, ...options);
      const lines = stdout.trimEnd().split('\n');
      expect([status, lines.slice(0, -1)]).toEqual([1, refusals]);
      return lines.at(-1);
    };
    expect((await run(file, '--dry-run')).stderr).toBe(
      '3 of those who are in have no password: the files have no hash of theirs.\n',
    );
    expect(await told('--yes', '--map', map)).toBe('3 in, 1 already in, 7 refused, 0 left out');
    const mapped = readFileSync(map, 'utf8');
    expect(await told('--yes', '--map', map)).toBe('0 in, 4 already in, 7 refused, 0 left out');
    expect(readFileSync(map, 'utf8')).toBe(mapped);
    expect(await stores.users.findById('01M805M084GXA5E2JTR4FKH6WN')).toMatchObject({ username: 'zoe' });
  });

  it('gives a username to who has none, or one that is not allowed or taken, and says so', async () => {
    const { stores, run } = inMemory();
    const file = fileOf(
      { email: 'ada@example.org' },
      { email: 'ada@example.com', username: 'ada@example.com' },
      { email: 'bob@example.org', username: 'Bób Ö' },
      { email: 'bo@example.org', username: 'BOB' },
    );
    const { status, stdout } = await run(file, '--yes');
    expect(status).toBe(0);
    const names: unknown[] = [];
    for (const email of ['ada@example.org', 'ada@example.com', 'bob@example.org', 'bo@example.org'])
      names.push((await stores.users.findByEmail(email))?.username);
    expect(names).toEqual(['ada', expect.stringMatching(/^ada-\d\d$/), 'bob', 'user-bo']);
    expect(stdout.split('\n').slice(0, 2)).toEqual([
      `${file}:3: username: taken or not allowed here, is now bob`,
      `${file}:4: username: taken or not allowed here, is now user-bo`,
    ]);
  });

  it('says with --dry-run what it would say, and stores nothing', async () => {
    const { stores, run } = inMemory();
    const file = fileOf(
      { email: 'ada@example.org', id: '1', identities: [GOOGLE] },
      ...['Ada@example.org', 'no'].map((email) => ({ email })),
      ...['ivy', 'ada'].map((name) => ({ email: `${name}@example.org`, id: '1' })),
      { email: 'bob@example.org', identities: [GOOGLE] },
      { email: 'eve@example.org', username: 'ADA' },
    );
    const map = newPath();
    const dry = await run(file, '--dry-run', '--map', map);
    expect(await stores.users.findByEmail('ada@example.org')).toBeNull();
    expect(() => statSync(map)).toThrow();
    const { status, stdout } = await run(file, '--yes');
    expect(dry).toMatchObject({
      status,
      stdout: stdout.replace(/(?=2 in)/, 'Nothing was stored, because of --dry-run: '),
    });
  });

  it('refuses a line with an authenticator app where no key encrypts its secret', async () => {
    const command = users({ storage: memoryStorage() });
    const file = fileOf({ email: 'ada@example.org', factors: [{ secret: SECRET }] });
    const { status, stdout } = await runHere(['users', 'import', file, '--yes'], PRODUCTION, { command });
    expect([status, stdout]).toEqual([1, expect.stringContaining('factors: authenticator apps need FACTOR_KEYS')]);
  });

  it('reads the export of another system with --from', async () => {
    const { stores, run } = inMemory();
    const user = { user_id: 'auth0|1', email: 'ada@example.org', email_verified: true, blocked: true };
    const passwords = fileOf({ _id: { $oid: '1' }, passwordHash: HASH }, { _id: { $oid: '2' }, passwordHash: HASH });
    const file = fileOf(user, { ...user, user_id: 'auth0|3', email: 'bob@example.org', mfa_factors: [{ totp: {} }] });
    expect(await run(file, '--from', 'auth0', '--passwords', passwords, '--yes')).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(
        /^.*:1: .*\n.*:2: .*\n.*:2: .*\n.*:2: .*\n2 in, 0 already in, 1 refused, 0 left out\n$/,
      ),
    });
    expect(await stores.users.findByEmail('ada@example.org')).toMatchObject({
      ...{ passwordHash: `bcrypt$${HASH}`, emailVerifiedAt: expect.any(Number), disabledAt: expect.any(Number) },
    });
    const firebase = fileOf({ localId: '1', email: 'eve@example.org', passwordHash: 'SECRET', salt: 'SECRET' });
    expect(await run(firebase, '--from', 'firebase', '--yes')).toMatchObject({ status: 2, stdout: '' });
  });

  it('asks first, and refuses wrong arguments', async () => {
    const { stores, run } = inMemory();
    const [file, other, linked] = [fileOf({ email: 'ada@example.org' }), fileOf({ secret: 1 }), newPath()];
    symlinkSync(file, linked);
    for (const args of [
      [],
      [file],
      ['/nonexistent', '--yes'],
      [file, '--from', 'acme'],
      [file, '--yes', '--map', file],
      [file, '--yes', '--map', linked],
      [file, '--yes', '--from', 'auth0', '--passwords', other, '--map', other],
      [file, '--yes', '--from', 'auth0', '--hash-config', other, '--map', other],
      [file, '--yes', '--passwords', other],
      [directory.path, '--yes'],
    ])
      expect(await run(...args)).toMatchObject({ status: 2, stdout: '' });
    expect(await stores.users.findByEmail('ada@example.org')).toBeNull();
    expect(readFileSync(other, 'utf8')).toContain('secret');
  });

  it('says once a second how far it is', async () => {
    const { run } = inMemory();
    const file = fileOf(
      ...Array.from({ length: 1_100 }, (_, at) => ({ email: `u${at}@example.org`, passwordHash: HASH })),
    );
    let seconds = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => seconds * 1_000);
    try {
      expect((await run(file, '--dry-run')).stderr).toBe('');
      clock.mockImplementation(() => 1_000 * ++seconds);
      expect((await run(file, '--yes')).stderr).toMatch(
        /^500 in, 0 already in, 0 refused, 0 left out …\n1000 in, .* …\n1100 in, .* …\n$/,
      );
    } finally {
      clock.mockRestore();
    }
  });

  it('reads no more lines than it stores at once, and says what a source leaves out or notes', async () => {
    const stores = memoryStorage();
    let [read, stored, ahead] = [0, 0, 0];
    async function* lines() {
      for (let line = 1; line <= 2_100; line += 1) {
        read += 1;
        ahead = Math.max(ahead, read - stored);
        yield { file: 'f', line, user: { email: `u${line}@example.org` }, notes: line === 7 ? ['A note.'] : [] };
      }
      yield { file: 'f', line: 2_101, leftOut: 'Was deleted there.' };
    }
    const ids = { next: () => '' };
    const secrets = { random: () => '01234567', hashOf: String };
    const deps = { ...stores, ids, secrets, clock: { now: () => NOW }, hasher: passwordHasher(), factorSecrets: null };
    const remarks: unknown[] = [];
    for await (const batch of importUsers(lines(), { deps, from: 'x', dryRun: false })) {
      stored += batch.filter(({ state, hasNoPassword }) => state === 'in' && hasNoPassword).length;
      remarks.push(...batch.flatMap(({ line, remarks: [remark] }) => (remark ? [[line.line, remark]] : [])));
    }
    expect(stored).toBe(2_100);
    expect(remarks).toEqual([
      [7, 'A note.'],
      [2_101, 'left out: Was deleted there.'],
    ]);
    expect(ahead).toBe(500);
  });
});

describe.each(ALL_KINDS)('what is imported on $on', ({ empty }) => {
  const environmentOf = (options: DatabaseOptions) => ({
    DATABASE_URL: options.kind === 'sqlite' ? `sqlite:${options.path}` : options.url,
    FACTOR_KEYS: KEY.toString('base64url'),
    BCRYPT_COST: '4',
  });
  const migrated = async (options: DatabaseOptions) => {
    const env = environmentOf(options);
    expect((await runHere(['migrate'], env)).status).toBe(0);
    return env;
  };

  it('is exported as it came, also from another database in between, to a file that only its owner reads', async () => {
    const lines: LineInput[] = [
      ...['$2b$', '$argon2id$v=19$m=65536,t=3,p=4$c2FsdHNhbHQ$'].map((begin, at) => ({
        ...{ username: `user${at}`, email: `user${at}@example.org`, emailVerified: at === 0, locale: 'de-AT' },
        passwordHash: begin === '$2b$' ? HASH : `${begin}${'A'.repeat(43)}`,
        ...{
          createdAt: `202${at}-01-02T03:04:05.678Z`,
          attributes: { order: { b: 1, a: [null] } },
          disabled: at === 1,
        },
        identities: [{ ...GOOGLE, subject: `a ${at}`, email: 'a@b.example' }],
        factors: [{ type: 'totp' as const, secret: SECRET }],
      })),
      { email: 'ada@example.org', passwordHash: 'md5$salt$5f4dcc3b5aa765d61d8327deb882cf99' },
      { email: 'ADA@example.org' },
      { email: 'bob@example.org', username: 'bob' },
      { email: 'kim@example.org', username: 'kim', passwordHash: NO_PASSWORD },
    ];
    const [here, there, again] = [
      await migrated(await empty()),
      await migrated(await emptyFile()),
      await migrated(await empty()),
    ];
    expect((await runHere(['users', 'import', fileOf(...lines), '--yes'], here)).status).toBe(1);
    const exports: string[] = [];
    for (const [env, next] of [
      [here, there],
      [there, again],
      [again, again],
    ] as const) {
      const out = newPath();
      expect((await runHere(['users', 'export', '--all', '--out', out], env)).status).toBe(0);
      expect(statSync(out).mode & 0o777).toBe(0o600);
      exports.push(readFileSync(out, 'utf8'));
      expect((await runHere(['users', 'import', out, '--yes'], next)).status).toBe(0);
    }
    const [first = '', ...others] = exports;
    for (const other of others) expect(other).toBe(first);
    const read: LineInput[] = first
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(read).toHaveLength(5);
    expect(read.find(({ username }) => username === 'kim')?.passwordHash).toBe(NO_PASSWORD);
    expect(read.find(({ username }) => username === 'bob')).not.toHaveProperty('passwordHash');
    expect(read.filter(({ username }) => username?.startsWith('user'))).toMatchObject(
      lines.slice(0, 2).map(({ disabled, ...line }) => (disabled ? { ...line, disabled } : line)),
    );
  });
});

it('npm run users -- export --all shows no secrets without --yes, leaves out what no key decrypts and says so, and is of the own database', async () => {
  const { path } = await emptyFile();
  const env = { DATABASE_URL: `sqlite:${path}`, FACTOR_KEYS: KEY.toString('base64url'), BCRYPT_COST: '4' };
  await runHere(['migrate'], env);
  await runHere(['users', 'import', fileOf({ email: 'ada@example.org', factors: [{ secret: SECRET }] }), '--yes'], env);
  const exported = (args: string[], more: object = {}) =>
    runHere(['users', 'export', ...args], { ...env, ...more }, { isShown: true });
  expect(await exported(['--all'])).toMatchObject({ status: 2, stdout: '' });
  const { status, stdout } = await exported(['--all', '--yes']);
  expect([status, JSON.parse(stdout).factors]).toEqual([0, [{ type: 'totp', secret: SECRET }]]);
  expect(JSON.parse(stdout)).not.toHaveProperty('passwordHash');
  const others = { FACTOR_KEYS: Buffer.alloc(32, 8).toString('base64url') };
  const without = await exported(['--all', '--yes'], others);
  expect([without.status, JSON.parse(without.stdout).factors]).toEqual([1, undefined]);
  expect(without.stderr).toContain('no key of FACTOR_KEYS decrypts');
  const file = fileOf({});
  expect(await exported(['--all', '--out', file])).toMatchObject({ status: 1 });
  for (const args of [[], ['ada', '--all']]) expect((await exported(args)).status).toBe(2);
});
