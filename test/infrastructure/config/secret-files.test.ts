import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ConfigError, parseConfig } from '../../../src/infrastructure/config.ts';
import { DEVELOPMENT, PRODUCTION } from '../../support/processes/environments.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

const directory = temporaryDirectory();
afterAll(directory.remove);
let count = 0;
const fileWith = (content: string | Buffer): string => {
  count += 1;
  const path = join(directory.path, `secret-${count}`);
  writeFileSync(path, content);
  return path;
};

const problemsOf = (env: Readonly<Record<string, string>>): readonly string[] => {
  try {
    parseConfig({ ...DEVELOPMENT, ...env });
    return [];
  } catch (error) {
    return error instanceof ConfigError ? error.problems : expect.unreachable(String(error));
  }
};

describe('a secret in a file', () => {
  it('is used like that in the variable, without the line break at its end', () => {
    const inFiles = Object.entries({
      ...PRODUCTION,
      DATABASE_URL: 'postgresql://db/x',
      REDIS_URL: 'redis://:p@r',
      FACTOR_KEYS: 'A'.repeat(43),
    }).map(([name, value]): [string, string] =>
      /_KEYS?$|_URL$/.test(name) ? [`${name}_FILE`, fileWith(`${value}\n`)] : [name, value],
    );
    const config = parseConfig(Object.fromEntries(inFiles));
    expect(config).toMatchObject({
      database: { url: 'postgresql://db/x' },
      redisUrls: ['redis://:p@r'],
      factorKeys: [Buffer.alloc(32)],
    });
    expect(config.keys?.access.privateKey.type).toBe('private');
    expect(config.warnings.filter((warning) => warning.includes('_FILE'))).toEqual([]);
  });

  it('may be written by an editor on Windows, and is refused in an encoding of its own', () => {
    const url = 'redis://:p%C3%A9@r';
    for (const content of [Buffer.from(`\uFEFF${url}\r\n`), Buffer.from(`\uFEFF${url}`, 'utf16le')])
      expect(parseConfig({ ...DEVELOPMENT, REDIS_URL_FILE: fileWith(content) }).redisUrls).toEqual([url]);
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
    expect(problemsOf({ DATABASE_URL: 'postgresql://tandem@db/x', PGPASSWORD: 'one', PGPASSWORD_FILE: file })).toEqual([
      'PGPASSWORD_FILE: must be unset, or PGPASSWORD must be',
    ]);
  });

  it('is refused beside the variable, and if it cannot be read or is empty, without its content', () => {
    const path = fileWith('redis://:S3CRET@r');
    expect(problemsOf({ REDIS_URL: 'redis://a', REDIS_URL_FILE: path })).toEqual([
      'REDIS_URL_FILE: must be unset, or REDIS_URL must be',
    ]);
    expect(problemsOf({ REDIS_URL_FILE: join(directory.path, 'none') })).toEqual([
      expect.stringMatching(/^REDIS_URL_FILE: the file cannot be read: ENOENT/),
    ]);
    expect(problemsOf({ REDIS_URL_FILE: fileWith('\n') })).toEqual(['REDIS_URL_FILE: the file is empty']);
    expect(problemsOf({ DATABASE_URL_FILE: fileWith('mysqlx://S3CRET') })).toEqual([
      expect.stringMatching(/^DATABASE_URL: expected (?!.*S3CRET)/),
    ]);
  });

  it('cannot be that of a variable without a secret', () => {
    const { warnings } = parseConfig({ ...DEVELOPMENT, DATABASE_POOL_SIZE_FILE: fileWith('1') });
    expect(warnings).toContainEqual(expect.stringContaining('DATABASE_POOL_SIZE_FILE'));
  });
});
