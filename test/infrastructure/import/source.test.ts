import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type LineInput, readLine } from '../../../src/infrastructure/import/line.ts';
import { ownLines } from '../../../src/infrastructure/import/source.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

const directory = temporaryDirectory();

it('the lines of a file have the numbers of the file, whatever ends them, and what cannot be read is a problem of its line', async () => {
  const file = join(directory.path, 'lines');
  const lines = ['\ufeff{"n":1}\r', '', '{"n":3', '"\xff"', `"${'x'.repeat(2 ** 18)}"`, '{"n":"ä"}'];
  const bytes = lines.map((line) => Buffer.from(line, line.includes('\xff') ? 'latin1' : 'utf8'));
  writeFileSync(file, Buffer.concat(bytes.flatMap((line) => [line, Buffer.from('\n')]).slice(0, -1)));
  const read: unknown[] = [];
  for await (const line of ownLines({ files: [file, file] })) read.push(line);
  expect(read).toEqual(
    [0, 1].flatMap(() => [
      { file, line: 1, user: { n: 1 } },
      { file, line: 3, problem: 'is no JSON in UTF-8' },
      { file, line: 4, problem: 'is no JSON in UTF-8' },
      { file, line: 5, problem: 'is longer than 262144 bytes' },
      { file, line: 6, user: { n: 'ä' } },
    ]),
  );
});

describe('a line of a user', () => {
  it('has every field of an account', () => {
    const identity = { issuer: 'https://accounts.google.com', subject: '1', provider: 'google', email: 'a@b.example' };
    const line: LineInput = {
      ...{ id: 'auth0|1', username: 'ada', email: ' ada@example.org', emailVerified: true, passwordHash: 'md5$$' },
      ...{ createdAt: '2026-11-21T23:03:48.228+01:00', locale: 'de-at', attributes: { roles: ['a'] } },
      ...{ identities: [identity], factors: [{ type: 'totp', secret: 'jbsw y3dp ehpk 3pxp====' }], disabled: true },
    };
    expect(readLine(line)).toEqual({
      ...line,
      ...{ email: 'ada@example.org', createdAt: Date.UTC(2026, 10, 21, 22, 3, 48, 228), locale: 'de-AT' },
      factors: [{ type: 'totp', secret: 'JBSWY3DPEHPK3PXP' }],
    });
    expect(readLine({ email: 'jo@bücher.example' })).toMatchObject({ email: 'jo@xn--bcher-kva.example' });
    expect(readLine({ email: 'ada@example.org', username: null })).not.toHaveProperty('problem');
  });

  const SECRET = 'SECRET-1';
  it.each<[string, object]>([
    ['email: is required', { email: undefined }],
    ['email: must be an email address', { email: SECRET }],
    ['id: has the wrong type', { id: 7 }],
    ['password: is unknown', { password: SECRET }],
    ['passwordHash: must not contain NUL or half a character', { passwordHash: `${SECRET}\0` }],
    ['passwordHash: must have at most 2048 characters', { passwordHash: SECRET.repeat(400) }],
    ['createdAt: must be a time such as 2026-11-21T23:03:48.228Z', { createdAt: SECRET }],
    ['createdAt: must be a time such as 2026-11-21T23:03:48.228Z', { createdAt: '2026-13-41T00:00:00Z' }],
    ['locale: must be a language tag, such as de or de-AT', { locale: SECRET + SECRET }],
    ['attributes: The attributes have to be a JSON object.', { attributes: [SECRET] }],
    ['attributes: The name sub is reserved: it is that of a claim.', { attributes: { sub: SECRET } }],
    ['identities.0.issuer: must be a URL of https', { identities: [{ issuer: SECRET, subject: '1' }] }],
    [
      'identities.0.subject: must be 1 to 255 characters of ASCII',
      { identities: [{ issuer: 'https://a', subject: '' }] },
    ],
    ['factors.0.secret: must be Base32 of at least 80 bits', { factors: [{ secret: SECRET }] }],
    ['factors.0.digits: is unknown', { factors: [{ secret: 'JBSWY3DPEHPK3PXP', digits: 8 }] }],
    ['factors: must have at most 5 entries', { factors: Array(6).fill({ secret: 'JBSWY3DPEHPK3PXP' }) }],
    ['disabled: has the wrong type', { disabled: 'no' }],
  ])('is refused by its field, without its value: %s', (problem, given) => {
    expect(readLine({ email: 'ada@example.org', ...given })).toEqual({ problem });
  });

  it('is refused as a whole when it is no object', () => {
    for (const value of [null, [], 'ada', 1]) expect(readLine(value)).toHaveProperty('problem');
  });
});
