// Proves operator-2
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { VARIABLE_NAMES } from '../../../src/infrastructure/config/variables.ts';
import { parseConfig } from '../../../src/infrastructure/config.ts';
import { problemsOf } from '../../support/config-problems.ts';
import { DEVELOPMENT, NO_WARNINGS, PRODUCTION } from '../../support/processes/environments.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

const directory = temporaryDirectory();
let count = 0;
const fileWith = (content: string | Buffer): string => {
  count += 1;
  const path = join(directory.path, `secret-${count}`);
  writeFileSync(path, content);
  return path;
};

describe('a secret in a file', () => {
  it('is used like that in the variable, without the line break at its end', () => {
    const inFiles = Object.entries({ ...NO_WARNINGS, REDIS_URL: 'redis://:p@r' }).map(([name, value]) =>
      /_KEYS?$|(?:DATABASE|REDIS|MAIL)_URL$/.test(name) ? [`${name}_FILE`, fileWith(`${value}\n`)] : [name, value],
    );
    const config = parseConfig(Object.fromEntries(inFiles));
    expect(config).toMatchObject({
      database: { url: NO_WARNINGS.DATABASE_URL },
      redisUrl: ['redis://:p@r'],
      mail: { url: NO_WARNINGS.MAIL_URL },
      factorKeys: [Buffer.alloc(32)],
    });
    expect(config.keys?.access.privateKey.type).toBe('private');
    expect(config.warnings.filter((warning) => warning.includes('_FILE'))).toEqual([]);
  });

  it('may be written by an editor on Windows, and is refused in an encoding of its own', () => {
    const url = 'redis://:p%C3%A9@r';
    for (const content of [Buffer.from(`\uFEFF${url}\r\n`), Buffer.from(`\uFEFF${url}`, 'utf16le')])
      expect(parseConfig({ ...DEVELOPMENT, REDIS_URL_FILE: fileWith(content) }).redisUrl).toEqual([url]);
    for (const content of [Buffer.from('redis://:é@r', 'latin1'), Buffer.from('redis://r', 'utf16le')])
      expect(problemsOf({ REDIS_URL_FILE: fileWith(content) })).toEqual([
        'REDIS_URL_FILE: the file cannot be read: it is neither UTF-8, nor UTF-16 with a byte order mark',
      ]);
  });

  it('is the password of a URL without one, whatever letters it has', () => {
    const password = (url: string, file: string) => {
      const { database } = parseConfig({ ...DEVELOPMENT, DATABASE_URL: url, PGPASSWORD_FILE: file });
      return database.kind === 'postgresql' ? decodeURIComponent(new URL(database.url).password) : null;
    };
    const file = fileWith('p@ss/w%20rd:ü\n');
    expect(password('postgresql://tandem@db/x', file)).toBe('p@ss/w%20rd:ü');
    expect(password('postgresql://tandem:own@db/x', file)).toBe('own');
  });

  it.each([
    [{ REDIS_URL: 'redis://a', REDIS_URL_FILE: fileWith('redis://b') }, /^REDIS_URL_FILE: must be unset, or REDIS_URL/],
    [{ PGPASSWORD: 'one', PGPASSWORD_FILE: fileWith('two') }, /^PGPASSWORD_FILE: must be unset, or PGPASSWORD must be/],
    [{ REDIS_URL_FILE: '/none' }, /^REDIS_URL_FILE: the file cannot be read: ENOENT/],
    [{ REDIS_URL_FILE: fileWith('\n') }, /^REDIS_URL_FILE: the file is empty/],
    [{ DATABASE_URL_FILE: fileWith('mysqlx://S3CRET') }, /^DATABASE_URL: expected (?!.*S3CRET)/],
  ])('is refused without its content: %j', (env, problem) => {
    expect(problemsOf(env)).toEqual([expect.stringMatching(problem)]);
  });

  it('cannot be that of a variable without a secret', () => {
    const { warnings } = parseConfig({ ...DEVELOPMENT, DATABASE_POOL_SIZE_FILE: fileWith('1') });
    expect(warnings).toEqual([expect.stringContaining('DATABASE_POOL_SIZE_FILE')]);
  });
});

it.each(['"', "'"])('values in %s, as `docker run --env-file` passes them on, are read as those without', (quote) => {
  const env = { ...PRODUCTION, BASE_URL: 'https://auth.example.com' };
  const quoted = Object.entries(env).map(([name, value]) => [name, `${quote}${value.replaceAll('\n', '\\n')}${quote}`]);
  expect(problemsOf(Object.fromEntries(quoted))).toEqual([]);
  expect(parseConfig(Object.fromEntries(quoted)).baseUrl).toBe('https://auth.example.com');
});

it('quotes that do not enclose a value belong to it', () => {
  const { brand } = parseConfig({ ...DEVELOPMENT, BRAND_NAME: `"A" and 'B'x` });
  expect(brand.name).toBe(`"A" and 'B'x`);
});

it('a name that begins with a byte order mark is refused: its line would be ignored', () => {
  expect(problemsOf({ ...DEVELOPMENT, '\uFEFFLOG_LEVEL': 'debug' })).toEqual([
    'LOG_LEVEL: the file that sets it must not begin with a byte order mark',
  ]);
});

describe('a name that nothing reads', () => {
  const named = (text: string) => Object.fromEntries(text.split(' ').map((name) => [name, 'x']));

  it('is warned of when it begins like one of the service', () => {
    const names = 'ALLOWED_ORIGINS BCRYPT_ROUNDS JWT_SECRET REDIS_TLS_CERTIFICATE MAIL_SENDER RATE_LIMIT TRUST_PROXI';
    expect(parseConfig(named(names)).warnings).toEqual([
      `Not variables of this service: ${names.replaceAll(' ', ', ')}`,
    ]);
  });

  it('is not warned of when it may be of others, is empty, or is known', () => {
    const others =
      'HOME PATH POST PORTS GHOST HOSTNAME LOGNAME NODE_OPTIONS BASH_ENV PGPASSWORD PGSSLMODE POSTGRES_PASSWORD SESSION_MANAGER npm_config_registry MAIL MAILCHECK MAIL_SERVICE_HOST MAIL_PORT REDIS_PORT REDIS_PORT_6379_TCP_ADDR REDIS_SERVICE_PORT_CLIENT DATABASE_SERVICE_HOST DATABASE_PORT_5432_TCP_PROTO';
    const names = VARIABLE_NAMES.map((name) => [name, ''] as const);
    const env = { ...Object.fromEntries(names), ...named(others), [`JWT_${'A'.repeat(100)}`]: 'x', 'JWT_A\nB': 'x' };
    expect(parseConfig({ ...env, JWT_SECRET: '' }).warnings).toEqual([]);
  });
});
