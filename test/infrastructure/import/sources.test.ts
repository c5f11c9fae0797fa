import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { firebaseHash } from '../../../src/adapters/crypto/foreign/firebase.ts';
import { readHash } from '../../../src/adapters/crypto/foreign/read-hash.ts';
import { keycloakHash } from '../../../src/adapters/crypto/foreign/storable-hash.ts';
import { readLine } from '../../../src/infrastructure/import/line.ts';
import type { SourceLine, SourceOptions } from '../../../src/infrastructure/import/source.ts';
import { SOURCES } from '../../../src/infrastructure/import/sources.ts';
import { facts } from '../../support/foreign-hashes.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

const directory = temporaryDirectory();
afterAll(directory.remove);

type Files = Readonly<Record<string, string>>;

/** The lines of a source, with the names of the files, and of users only the fields that say something. */
const read = async (name: string, contents: Files, options: Partial<SourceOptions> = {}) => {
  const path = mkdtempSync(join(directory.path, 'files-'));
  const files = Object.entries(contents).map(([file, text]) => {
    writeFileSync(join(path, file), text);
    return join(path, file);
  });
  const passwords = options.passwords === undefined ? {} : { passwords: join(path, options.passwords) };
  const lines: object[] = [];
  const source = SOURCES[name] ?? expect.unreachable(name);
  const given = { ...options, ...passwords, files: files.filter((file) => file !== passwords.passwords) };
  for await (const line of source(given)) lines.push({ ...shown(line), file: line.file.slice(path.length + 1) });
  return lines;
};

const shown = (line: SourceLine) => {
  if (!('user' in line)) return line;
  const { email } = line.user as { email?: string };
  if (email !== undefined) expect(readLine(line.user)).not.toHaveProperty('problem');
  const user = Object.entries(line.user as object).filter(
    ([, value]) => value !== undefined && value !== false && value?.length !== 0,
  );
  return { ...line, user: Object.fromEntries(user) };
};

const jsonLines = (...rows: object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

const GOOGLE = 'https://accounts.google.com';
const GITHUB = 'https://github.com';
const DISABLED = 'Is blocked or disabled there, so the account is disabled.';
const WITHOUT_FACTOR = 'The second factor is left out: the export has no secret that can be used here.';
const notKnown = (provider: string) =>
  `The link to the provider ${provider} is left out: it is not known as an OpenID provider.`;
const withTenant = (provider: string) =>
  `The link to the provider ${provider} is left out: its issuer and subject depend on the tenant and the application, and are not in the export.`;
const ORPHAN = 'belongs to none of the users in the files';

const hashBy = (maker: string): string =>
  facts.hashes.find(({ madeBy }) => madeBy.startsWith(maker))?.hash ?? expect.unreachable(maker);
const BCRYPT = hashBy('bcrypt');
const APP = { secret: 'JBSWY3DPEHPK3PXP' };
const ADA = { email: 'Ada@example.org', username: 'ada' };

describe('users of Auth0', () => {
  const user = {
    ...{
      user_id: 'auth0|5dea9f9c82dd7c0e76e4ec93',
      email_verified: true,
      created_at: '2019-12-06T18:36:12.412Z',
      ...ADA,
    },
    identities: [
      { provider: 'auth0', user_id: '5dea9f9c82dd7c0e76e4ec93', connection: 'Username-Password-Authentication' },
      { provider: 'google-oauth2', user_id: '1057', isSocial: true, profileData: { email: 'ada@gmail.example' } },
    ],
  };
  const hash = {
    ...{
      _id: { $oid: '5dea9f9c82dd7c0e76e4ec93' },
      email: 'ada@example.org',
      email_verified: true,
      passwordHash: BCRYPT,
    },
    ...{ password_set_date: { $date: '2019-12-06T18:36:12.412Z' }, connection: 'Username-Password-Authentication' },
  };

  it('come with the hashes of the second file, and their links', async () => {
    const users = jsonLines(
      user,
      {
        user_id: 'github|2',
        email: 'b@example.org',
        identities: [
          { provider: 'github', user_id: 2 },
          { provider: 'auth0', user_id: 'euclid' },
        ],
      },
      { user_id: 'windowslive|c', email: 'c@example.org', blocked: true, multifactor: ['guardian'] },
      { user_id: 'email|d', email: 'd@example.org', mfa_factors: [{ totp: APP }] },
      {
        Id: 'google-oauth2|e',
        Email: 'e@example.org',
        'Email Verified': true,
        'Created At': '2020-01-02T03:04:05.000Z',
      },
    );
    const hashes = jsonLines(
      hash,
      { ...hash, alt_id: 'euclid', passwordHash: `${BCRYPT.slice(0, -1)}a` },
      { ...hash, _id: { $oid: 'x' } },
    );
    expect(await read('auth0', { users, hashes }, { passwords: 'hashes' })).toEqual([
      {
        ...{ file: 'users', line: 1, notes: [] },
        user: {
          ...{ ...ADA, id: user.user_id, emailVerified: true, createdAt: user.created_at, passwordHash: BCRYPT },
          identities: [{ issuer: GOOGLE, subject: '1057', provider: 'google', email: 'ada@gmail.example' }],
        },
      },
      {
        ...{ file: 'users', line: 2, notes: [] },
        user: {
          ...{ id: 'github|2', email: 'b@example.org', passwordHash: `${BCRYPT.slice(0, -1)}a` },
          identities: [{ issuer: GITHUB, subject: '2', provider: 'github' }],
        },
      },
      {
        ...{ file: 'users', line: 3, notes: [withTenant('windowslive'), WITHOUT_FACTOR, DISABLED] },
        user: { id: 'windowslive|c', email: 'c@example.org', disabled: true },
      },
      { file: 'users', line: 4, notes: [], user: { id: 'email|d', email: 'd@example.org', factors: [APP] } },
      {
        ...{ file: 'users', line: 5, notes: [] },
        user: {
          ...{
            id: 'google-oauth2|e',
            email: 'e@example.org',
            emailVerified: true,
            createdAt: '2020-01-02T03:04:05.000Z',
          },
          identities: [{ issuer: GOOGLE, subject: 'e', provider: 'google' }],
        },
      },
      { file: 'hashes', line: 3, problem: ORPHAN },
    ]);
  });
});

describe('users of Firebase', () => {
  const { config, users } = facts.firebase;
  const [{ hash, salt } = expect.unreachable()] = users;
  const hashConfig = `hash_config {
  algorithm: SCRYPT,
  base64_signer_key: ${config.signerKey},
  base64_salt_separator: ${config.saltSeparator},
  rounds: ${config.rounds},
  mem_cost: ${config.memCost},
}`;
  const expected = {
    ...{ id: 'a', email: 'ada@example.org', emailVerified: true, createdAt: '2017-07-14T02:40:00.000Z' },
    ...{ passwordHash: firebaseHash({ hash, salt }, config), attributes: { admin: true }, disabled: true },
    identities: [{ issuer: GOOGLE, subject: '1057', provider: 'google', email: 'ada@gmail.example' }],
  };
  const json = JSON.stringify(
    {
      users: [
        {
          ...{ localId: 'a', email: 'ada@example.org', emailVerified: true, passwordHash: hash, salt },
          ...{ displayName: 'Ada', createdAt: '1500000000000', disabled: true, customAttributes: '{"admin":true}' },
          providerUserInfo: [
            { providerId: 'google.com', rawId: '1057', email: 'ada@gmail.example' },
            { providerId: 'facebook.com', rawId: '7' },
            { providerId: 'password', rawId: 'ada@example.org' },
          ],
        },
        { localId: 'b', phoneNumber: '+15550100', createdAt: '1500000000000' },
        { localId: 'c', createdAt: '1500000000000', providerUserInfo: [] },
      ],
    },
    null,
    2,
  );

  it('come with hashes, claims and links', async () => {
    const [ada, b, c] = await read('firebase', { 'users.json': json }, { hashConfig });
    expect(ada).toEqual({ file: 'users.json', line: 3, user: expected, notes: [notKnown('facebook'), DISABLED] });
    expect(b).toMatchObject({ line: expect.any(Number), user: { id: 'b' } });
    expect(c).toMatchObject({ leftOut: 'is an anonymous user' });
    expect(readHash(expected.passwordHash)).not.toHaveProperty('problem');
  });

  it('are not read from CSV, in which the name of a user can be the line of another', async () => {
    const name = `x",${','.repeat(22)}\nz,ada@example.org,true,,,"`;
    const csv = `m,mallory@example.org,false,${hash},${salt},"${name}",,1,${','.repeat(18)},false,,\n`;
    expect(await read('firebase', { 'users.csv': csv }, { hashConfig })).toEqual([
      {
        ...{ file: 'users.csv', line: 1 },
        problem:
          'is not JSON, and in the CSV of Firebase, names may pretend to be other users; the rest of the file was not read',
      },
    ]);
  });

  it.each<[string, string | undefined]>([
    ['The users have passwords', undefined],
    ['--hash-config: mem_cost is missing.', hashConfig.replace(/mem_cost.*/, '')],
    ['--hash-config: only the algorithm SCRYPT is supported.', hashConfig.replace('SCRYPT', 'BCRYPT')],
  ])('need the parameters of their hashes: %s', async (message, text) => {
    await expect(read('firebase', { users: json }, { hashConfig: text })).rejects.toThrow(message);
  });
});

describe('users of Supabase', () => {
  const users = [
    {
      ...{
        id: 'u1',
        email: 'ada@example.org',
        encrypted_password: BCRYPT,
        email_confirmed_at: '2024-06-29 20:25:06.126079+00',
      },
      ...{
        created_at: '2024-06-29 20:25:06.126079+00',
        banned_until: '2999-01-01 00:00:00+00',
        deleted_at: null,
        is_anonymous: false,
      },
    },
    { id: 'u2', email: 'b@example.org', encrypted_password: '', banned_until: '2020-01-01 00:00:00+00' },
    { id: 'u3', email: 'c@example.org', deleted_at: '2024-06-29 20:25:06.126079+00' },
    { id: 'u4', email: '', is_anonymous: true },
  ];
  const identities = [
    { user_id: 'u1', provider: 'email', provider_id: 'u1', identity_data: { sub: 'u1', email: 'ada@example.org' } },
    {
      user_id: 'u1',
      provider: 'github',
      provider_id: '12',
      identity_data: { sub: '12', iss: 'https://api.github.com', email: 'ada@github.example' },
    },
    {
      user_id: 'u2',
      provider: 'azure',
      provider_id: 's',
      identity_data: { sub: 's', iss: 'https://login.microsoftonline.com/t/v2.0' },
    },
    { user_id: 'u2', provider: 'azure', provider_id: 's', identity_data: { sub: 's', iss: 'https://evil.example' } },
    { user_id: 'u2', provider: 'sso:1', provider_id: 's', identity_data: { sub: 's' } },
    { user_id: 'u9', provider: 'github', provider_id: '1', identity_data: { sub: '1' } },
  ];
  const factors = [
    { id: 'f1', user_id: 'u1', factor_type: 'totp', status: 'verified', secret: APP.secret },
    { id: 'f2', user_id: 'u1', factor_type: 'totp', status: 'unverified', secret: 'GEZDGNBVGY3TQOJQ' },
    { id: 'f3', user_id: 'u2', factor_type: 'phone', status: 'verified', secret: null },
  ];
  const csv = (rows: readonly object[]) => {
    const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    const field = (value: unknown) =>
      `"${(typeof value === 'object' && value !== null ? JSON.stringify(value) : `${value ?? ''}`).replaceAll('"', '""')}"`;
    const lines = rows.map((row) => columns.map((name) => field((row as Record<string, unknown>)[name])).join(','));
    return `\ufeff${[columns.join(','), ...lines].join('\r\n')}\r\n`;
  };

  it.each<[string, Files, number[]]>([
    ['an object of the tables', { all: JSON.stringify({ mfa_factors: factors, users, identities }) }, [1, 1, 1, 1, 1]],
    [
      'lines of JSON',
      { factors: jsonLines(...factors), identities: jsonLines(...identities), users: jsonLines(...users) },
      [1, 2, 3, 4, 6],
    ],
    ['CSV', { users: csv(users), identities: csv(identities), factors: csv(factors) }, [2, 3, 4, 5, 7]],
  ])('come with their links and factors: %s', async (_form, files, lines) => {
    const file = expect.any(String);
    expect(await read('supabase', files)).toEqual([
      {
        ...{ file, line: lines[0], notes: [DISABLED] },
        user: {
          ...{ id: 'u1', email: 'ada@example.org', emailVerified: true, passwordHash: BCRYPT, disabled: true },
          ...{ createdAt: '2024-06-29T20:25:06.126Z', factors: [APP] },
          identities: [{ issuer: GITHUB, subject: '12', provider: 'github', email: 'ada@github.example' }],
        },
      },
      {
        ...{
          file,
          line: lines[1],
          notes: expect.arrayContaining([withTenant('azure'), notKnown('sso:1'), WITHOUT_FACTOR]),
        },
        user: {
          ...{ id: 'u2', email: 'b@example.org' },
          identities: [{ issuer: 'https://login.microsoftonline.com/t/v2.0', subject: 's', provider: 'microsoft' }],
        },
      },
      { file, line: lines[2], leftOut: 'was deleted there' },
      { file, line: lines[3], leftOut: 'is an anonymous user' },
      { file, line: lines[4], problem: ORPHAN },
    ]);
  });
});

describe('users of the admin API of Supabase', () => {
  it('come with the links that are in them', async () => {
    const user = {
      ...{ id: 'u1', email: 'ada@example.org', email_confirmed_at: '2024-06-29T20:25:06.126Z' },
      identities: [{ user_id: 'u1', provider: 'google', identity_data: { sub: '1057' } }],
      factors: [{ id: 'f', factor_type: 'totp', status: 'verified' }],
    };
    for (const all of [jsonLines(user), JSON.stringify({ users: [user], aud: '' })])
      expect(await read('supabase', { all })).toMatchObject([
        { line: 1, notes: [WITHOUT_FACTOR], user: { id: 'u1', identities: [{ issuer: GOOGLE, subject: '1057' }] } },
      ]);
  });
});

describe('users of Keycloak', () => {
  const password = ({ value, salt, ...credential }: (typeof facts.keycloak)[number]['credential']) => ({
    ...{ id: 'c1', type: 'password', createdDate: 1645544502633 },
    secretData: JSON.stringify({ value, salt, additionalParameters: {} }),
    credentialData: JSON.stringify(credential),
  });
  const app = (data: object, value = 'VmsGW5GdRkLJB65mVOmp') => ({
    ...{ type: 'otp', secretData: JSON.stringify({ value }) },
    credentialData: JSON.stringify({
      subType: 'totp',
      digits: 6,
      counter: 0,
      period: 30,
      algorithm: 'HmacSHA1',
      ...data,
    }),
  });
  const realm = (...users: object[]) =>
    JSON.stringify(
      { realm: 'r', roles: { realm: [{ name: 'x' }] }, groups: [{ email: 'no@example.org' }], users },
      null,
      2,
    );
  const user = { id: 'k1', username: 'ada', email: 'ada@example.org', enabled: true, createdTimestamp: 1645544502633 };
  const base = { id: 'k1', username: 'ada', email: 'ada@example.org', createdAt: '2022-02-22T15:41:42.633Z' };

  it.each(facts.keycloak)('come with their hashes: $credential.algorithm', async ({ credential }) => {
    const passwordHash = keycloakHash(credential);
    expect(
      await read('keycloak', {
        'r.json': realm({ ...user, emailVerified: true, credentials: [password(credential)] }),
      }),
    ).toEqual([{ file: 'r.json', line: 16, notes: [], user: { ...base, emailVerified: true, passwordHash } }]);
    expect(readHash(passwordHash)).not.toHaveProperty('problem');
  });

  it.each<[string, object, object, string[]]>([
    [
      'a secret is a text',
      { credentials: [app({})] },
      { factors: [{ secret: 'KZWXGR2XGVDWIUTLJRFEENRVNVLE63LQ' }] },
      [],
    ],
    ['or Base32', { credentials: [app({ secretEncoding: 'BASE32' }, APP.secret)] }, { factors: [APP] }, []],
    ...[{ digits: 8 }, { period: 60 }, { algorithm: 'HmacSHA256' }, { subType: 'hotp' }].map(
      (data): [string, object, object, string[]] => [
        'other codes stay out',
        { credentials: [app(data)] },
        {},
        [WITHOUT_FACTOR],
      ],
    ),
    ['passkeys stay out', { credentials: [{ type: 'webauthn' }] }, {}, [WITHOUT_FACTOR]],
    ['disabled', { enabled: false }, { disabled: true }, [DISABLED]],
    ['the language', { attributes: { locale: ['de'] } }, { locale: 'de' }, []],
    [
      'links',
      {
        federatedIdentities: [
          { identityProvider: 'google', userId: '1', userName: 'a' },
          { identityProvider: 'saml', userId: 'x' },
        ],
      },
      { identities: [{ issuer: GOOGLE, subject: '1', provider: 'google' }] },
      [notKnown('saml')],
    ],
  ])('come with what they have: %s', async (_name, given, expected, notes) => {
    expect(await read('keycloak', { 'r.json': realm({ ...user, ...given }) })).toMatchObject([
      { notes, user: { ...base, ...expected } },
    ]);
  });

  it('are no accounts of services', async () => {
    expect(
      await read('keycloak', { r: realm({ username: 'service-account-x', serviceAccountClientId: 'x' }) }),
    ).toMatchObject([{ leftOut: 'is the account of a service' }]);
  });
});

describe('users of Clerk', () => {
  const COLUMNS =
    'id,first_name,last_name,username,primary_email_address,primary_phone_number,verified_email_addresses,unverified_email_addresses,verified_phone_numbers,unverified_phone_numbers,totp_secret,password_digest,password_hasher';

  const OF_C = { id: 'user_3', email: 'c@example.org', emailVerified: true };

  it('come from the CSV of the dashboard', async () => {
    const file = [
      COLUMNS,
      `user_1,Ada,"Love\nlace",ada,ada@example.org,,ada@example.org|a@example.org,,,,${APP.secret},${BCRYPT},bcrypt`,
      `user_2,,,,b@example.org,,,b@example.org,,,,5f4dcc3b5aa765d61d8327deb882cf99,md5`,
      'user_3,,,,c@example.org,,c@example.org,,,,,secret-hash,scrypt_werkzeug',
      'user_4,,,,,,,d@example.org,,,,,',
      '',
    ].join('\n');
    expect(await read('clerk', { 'users.csv': file })).toEqual([
      {
        ...{ file: 'users.csv', line: 2, notes: [] },
        user: {
          id: 'user_1',
          username: 'ada',
          email: 'ada@example.org',
          emailVerified: true,
          passwordHash: BCRYPT,
          factors: [APP],
        },
      },
      {
        ...{ file: 'users.csv', line: 4, notes: [] },
        user: { id: 'user_2', email: 'b@example.org', passwordHash: 'md5$$5f4dcc3b5aa765d61d8327deb882cf99' },
      },
      { file: 'users.csv', line: 5, notes: [], user: { ...OF_C, passwordHash: '{scrypt_werkzeug}' } },
      { file: 'users.csv', line: 6, notes: [], user: { id: 'user_4', email: 'd@example.org' } },
    ]);
  });

  it('come from the JSON of the Backend API and of the support', async () => {
    const account = { provider: 'oauth_google', provider_user_id: '1057', email_address: 'ada@gmail.example' };
    const users = [
      {
        ...{
          id: 'user_1',
          primary_email_address_id: 'e2',
          created_at: 1645544502633,
          banned: true,
          totp_enabled: true,
        },
        email_addresses: [
          { id: 'e1', email_address: 'other@example.org', verification: { status: 'verified' } },
          { id: 'e2', email_address: 'ada@example.org', verification: { status: 'verified' } },
        ],
        external_accounts: [
          { ...account, verification: { status: 'verified' } },
          { ...account, provider_user_id: '1', verification: { status: 'unverified' } },
        ],
      },
      { id: 'user_2', email_addresses: ['b@example.org'], password_digest: null, totp_secret: null },
    ];
    expect(await read('clerk', { 'users.json': JSON.stringify(users) })).toMatchObject([
      {
        ...{ line: 1, notes: [WITHOUT_FACTOR, DISABLED] },
        user: {
          ...{
            id: 'user_1',
            email: 'ada@example.org',
            emailVerified: true,
            createdAt: '2022-02-22T15:41:42.633Z',
            disabled: true,
          },
          identities: [{ issuer: GOOGLE, subject: '1057', provider: 'google', email: 'ada@gmail.example' }],
        },
      },
      { line: 1, notes: [], user: { id: 'user_2', email: 'b@example.org' } },
    ]);
    const csv = `${COLUMNS}\nuser_1,,,,ada@example.org,,,,,,${APP.secret},${BCRYPT},bcrypt\nuser_9,,,,,,,,,,,,\n`;
    expect(await read('clerk', { 'users.json': JSON.stringify(users), csv }, { passwords: 'csv' })).toMatchObject([
      {
        notes: [DISABLED],
        user: { id: 'user_1', passwordHash: BCRYPT, factors: [APP], identities: [{ subject: '1057' }] },
      },
      { user: { id: 'user_2' } },
      { file: 'csv', line: 3, problem: ORPHAN },
    ]);
  });
});

describe('an entry without the id of its user', () => {
  const user = { email: 'ada@example.org' };

  it.each<[string, Files, Partial<SourceOptions>]>([
    [
      'auth0',
      {
        a: jsonLines({ ...user, identities: [{ provider: 'auth0' }] }),
        b: jsonLines({ _id: {}, passwordHash: BCRYPT }),
      },
      {},
    ],
    [
      'clerk',
      { a: jsonLines({ primary_email_address: user.email, id: '' }), b: jsonLines({ password_digest: BCRYPT }) },
      { passwords: 'b' },
    ],
    ['better-auth', { a: jsonLines(user), b: jsonLines({ userId: '', providerId: 'github', accountId: '1' }) }, {}],
    [
      'django',
      {
        a: JSON.stringify([{ model: 'auth.user', fields: { ...user, password: '!', last_login: null } }]),
        b: JSON.stringify([
          { model: 'socialaccount.socialaccount', fields: { user: null, provider: 'github', uid: '1' } },
        ]),
      },
      {},
    ],
  ])('belongs to nobody: %s', async (source, files, options) => {
    const [first, ...others] = await read(source, files, options);
    expect(first).toMatchObject({ user: { email: 'ada@example.org' } });
    expect(first).not.toHaveProperty('user.passwordHash');
    expect(first).not.toHaveProperty('user.identities');
    expect(others).toHaveLength(1);
    expect(others).toMatchObject([{ problem: expect.any(String) }]);
  });
});

describe('users of better-auth', () => {
  const hash = hashBy('better-auth');

  it.each<[string, Files]>([
    [
      'an object of the tables',
      {
        all: JSON.stringify({
          user: [
            {
              id: 'u1',
              email: 'ada@example.org',
              emailVerified: true,
              createdAt: '2025-01-02T03:04:05.678Z',
              username: 'ada',
              displayUsername: 'Ada',
            },
            {
              id: 'u2',
              email: 'b@example.org',
              emailVerified: false,
              createdAt: 1735787045,
              banned: true,
              banExpires: null,
              twoFactorEnabled: true,
            },
          ],
          session: [{ id: 's', token: 'secret', userId: 'u1' }],
          account: [
            { id: 'a1', accountId: 'u1', providerId: 'credential', userId: 'u1', password: hash },
            { id: 'a2', accountId: '2', providerId: 'github', userId: 'u2', password: null },
          ],
        }),
      },
    ],
    [
      'CSV with names of the database',
      {
        account: `id,account_id,provider_id,user_id,password\na1,u1,credential,u1,${hash}\na2,2,github,u2,\n`,
        user: 'id,email,email_verified,created_at,username,display_username,banned,ban_expires,two_factor_enabled\nu1,ada@example.org,1,2025-01-02 03:04:05.678,ada,Ada,0,,0\nu2,b@example.org,f,1735787045000,,,t,,t\n',
        session: 'id,token,user_id\ns,secret,u1\n',
      },
    ],
  ])('come with their passwords and links: %s', async (_form, files) => {
    expect(await read('better-auth', files)).toMatchObject([
      {
        notes: [],
        user: {
          id: 'u1',
          username: 'Ada',
          email: 'ada@example.org',
          emailVerified: true,
          passwordHash: hash,
          createdAt: '2025-01-02T03:04:05.678Z',
        },
      },
      {
        notes: [WITHOUT_FACTOR, DISABLED],
        user: {
          id: 'u2',
          createdAt: '2025-01-02T03:04:05.000Z',
          disabled: true,
          identities: [{ issuer: GITHUB, subject: '2', provider: 'github' }],
        },
      },
    ]);
  });

  it.each([
    [
      { banned: true, banExpires: '2020-01-01T00:00:00.000Z' },
      { user: expect.not.objectContaining({ disabled: true }) },
    ],
    [{ isAnonymous: true }, { leftOut: 'is an anonymous user' }],
  ])('are in with the state that they have now: %o', async (state, expected) => {
    expect(await read('better-auth', { user: jsonLines({ id: 'u', email: 'a@example.org', ...state }) })).toMatchObject(
      [expected],
    );
  });
});

describe('users of Django', () => {
  it('come with what django-allauth and django-otp have', async () => {
    const entries = [
      {
        ...{ model: 'auth.user', pk: 1 },
        fields: {
          ...{
            password: hashBy('Django'),
            last_login: null,
            username: 'ada',
            email: 'ada@example.org',
            is_active: true,
          },
          ...{ date_joined: '2020-01-02T03:04:05Z', groups: [] },
        },
      },
      {
        model: 'shop.customer',
        pk: 2,
        fields: { password: '!x', last_login: null, email: 'b@example.org', is_active: false },
      },
      { model: 'auth.user', fields: { password: 'x', last_login: null, username: '1', email: 'c@example.org' } },
      { model: 'auth.permission', pk: 1, fields: { name: 'x', email: 'd@example.org' } },
      {
        model: 'account.emailaddress',
        pk: 1,
        fields: { user: 1, email: 'ADA@example.org', verified: true, primary: true },
      },
      {
        model: 'account.emailaddress',
        pk: 2,
        fields: { user: 2, email: 'b@example.org', verified: false, primary: true },
      },
      { model: 'account.emailaddress', pk: 3, fields: { user: ['1'], email: 'other@example.org', verified: true } },
      {
        model: 'socialaccount.socialaccount',
        pk: 1,
        fields: { user: 1, provider: 'google', uid: '1057', extra_data: { email: 'ada@gmail.example' } },
      },
      {
        model: 'socialaccount.socialaccount',
        pk: 2,
        fields: { user: ['1'], provider: 'microsoft', uid: '2', extra_data: '{}' },
      },
      {
        model: 'otp_totp.totpdevice',
        pk: 1,
        fields: { user: 1, confirmed: true, key: '2a2bbba1092ffdd25a328ad1a0a5f5d61d7aacc4', step: 30, digits: 6 },
      },
      { model: 'otp_totp.totpdevice', pk: 2, fields: { user: 1, confirmed: false, key: '00', step: 30, digits: 6 } },
      { model: 'otp_totp.totpdevice', pk: 3, fields: { user: 2, confirmed: true, key: '00', step: 30, digits: 8 } },
      { model: 'mfa.authenticator', pk: 1, fields: { user: ['1'], type: 'totp', data: { secret: APP.secret } } },
      { model: 'mfa.authenticator', pk: 2, fields: { user: ['1'], type: 'recovery_codes', data: { seed: 'x' } } },
    ];
    expect(await read('django', { 'dump.json': JSON.stringify(entries, null, 2) })).toEqual([
      {
        ...{ file: 'dump.json', line: 2, notes: [] },
        user: {
          ...{
            id: '1',
            username: 'ada',
            email: 'ada@example.org',
            emailVerified: true,
            passwordHash: hashBy('Django'),
          },
          ...{ createdAt: '2020-01-02T03:04:05.000Z', factors: [{ secret: 'FIV3XIIJF765EWRSRLI2BJPV2YOXVLGE' }] },
          identities: [{ issuer: GOOGLE, subject: '1057', provider: 'google', email: 'ada@gmail.example' }],
        },
      },
      {
        ...{ file: 'dump.json', line: 15, notes: [DISABLED, WITHOUT_FACTOR] },
        user: { id: '2', email: 'b@example.org', disabled: true },
      },
      {
        ...{ file: 'dump.json', line: 25, notes: [withTenant('microsoft')] },
        user: { username: '1', email: 'c@example.org', passwordHash: 'x', factors: [APP] },
      },
    ]);
  });

  it.each([
    ['the username is the address of somebody else', 'ada@example.org'],
    ['the address is the username of somebody else', 'ada'],
  ])('get nothing that belongs to others: %s', async (_, name) => {
    const user = (username: string, email: string) => ({
      model: 'auth.user',
      fields: { password: '!', last_login: null, username, email },
    });
    const entries = [
      user('ada', 'ada@example.org'),
      user('ada@example.org', 'mallory@example.org'),
      {
        model: 'socialaccount.socialaccount',
        pk: 1,
        fields: { user: [name], provider: 'google', uid: '666', extra_data: {} },
      },
    ];
    const lines = await read('django', { 'dump.json': JSON.stringify(entries) });
    const google = { issuer: GOOGLE, subject: '666', provider: 'google' };
    const ofAda = name === 'ada' ? { identities: [google] } : {};
    expect(lines.map((line) => ('user' in line ? line.user : line))).toEqual([
      { username: 'ada', email: 'ada@example.org', ...ofAda },
      { username: 'ada@example.org', email: 'mallory@example.org' },
      ...(name === 'ada' ? [] : [{ file: 'dump.json', line: 1, problem: ORPHAN }]),
    ]);
  });
});
