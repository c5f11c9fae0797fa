import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { curlCommand, prettyAnswer, type Sent } from '../../console/src/curl.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const directory = temporaryDirectory();

const LOGIN = 'http://localhost:3000/auth/login';
const aRequest = (given: Partial<Sent> = {}): Sent => ({
  method: 'POST',
  url: LOGIN,
  authorization: null,
  body: null,
  ...given,
});
const credentials = (password: string): string => JSON.stringify({ account: 'ada', password });

/** Pastes the command into a shell whose curl prints its arguments. @returns those, and the files that were made. */
const paste = (command: string, env: Readonly<Record<string, string>> = {}) => {
  const cwd = mkdtempSync(join(directory.path, 'shell-'));
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}\n`;
  const output = execFileSync('/bin/sh', ['-c', script], { cwd, env: { PATH: '/usr/bin:/bin', ...env } });
  return { words: output.toString().split('\0').slice(0, -1), files: readdirSync(cwd) };
};

const HOSTILE = [
  "it's",
  `'; touch owned; '`,
  '$(touch owned)',
  '`touch owned`',
  '"; touch owned; "',
  'a\\',
  "\\'; touch owned #",
  'two\nlines; touch owned',
  '!!',
  '\u0003\u001b[200~touch owned\u007f\u0085\u2028',
  'pässwörd 🔑',
  '\ud800',
  '@file',
];

describe('a curl line', () => {
  it.each(HOSTILE)('sends %j as it is, and runs nothing', (password) => {
    const command = curlCommand(aRequest({ body: credentials(password) }), true);
    const { words, files } = paste(command);
    expect(words.slice(0, -1)).toEqual([
      ...['-i', '-X', 'POST', LOGIN, '-b', 'jar', '-c', 'jar'],
      ...['-H', 'Content-Type: application/json', '--data-raw'],
    ]);
    expect(JSON.parse(words.at(-1) ?? '')).toEqual({ account: 'ada', password });
    expect(files).toEqual([]);
    expect(command).toMatch(/^[ -~\n]*$/);
  });

  it('quotes the address', () => {
    const url = "http://localhost:3000/users/me?a='$(touch%20owned)'";
    expect(paste(curlCommand(aRequest({ method: 'GET', url }), false))).toEqual({
      words: ['-i', '-X', 'GET', url],
      files: [],
    });
  });

  it('has a code of a second factor only when it is revealed', () => {
    for (const name of ['code', 'recoveryCode']) {
      const request = aRequest({ body: JSON.stringify({ [name]: '287082', remember: true }) });
      expect(curlCommand(request, false)).not.toContain('287082');
      expect(curlCommand(request, false)).toContain('remember');
      expect(curlCommand(request, true)).toContain('287082');
    }
  });

  it('has the passwords and the token only when they are revealed', () => {
    const body = JSON.stringify({ currentPassword: 'secret 1', newPassword: 'secret 2', username: 'ada' });
    const request = aRequest({
      url: 'http://localhost:3000/users/me/password',
      method: 'PUT',
      authorization: 'Bearer eyJ.secret.3',
      body,
    });
    expect(curlCommand(request, false)).not.toContain('secret');
    const { words } = paste(curlCommand(request, false), { TOKEN: 'mine' });
    expect(words).toContain('Authorization: Bearer mine');
    expect(JSON.parse(words.at(-1) ?? '')).toEqual({ currentPassword: '***', newPassword: '***', username: 'ada' });
    expect(paste(curlCommand(request, true)).words).toEqual(
      expect.arrayContaining(['Authorization: Bearer eyJ.secret.3', body]),
    );
  });

  it('has a token that is bound to a key as it was sent, and leaves its proof to the shell', () => {
    const request = aRequest({ authorization: 'DPoP eyJ.secret.3' });
    for (const [revealed, token] of [
      [false, 'mine'],
      [true, 'eyJ.secret.3'],
    ] as const)
      expect(paste(curlCommand(request, revealed), { TOKEN: 'mine', PROOF: 'new' }).words).toEqual(
        expect.arrayContaining([`Authorization: DPoP ${token}`, 'DPoP: new']),
      );
  });

  it('uses a cookie jar below /auth only, where the cookie is sent', () => {
    const jarOf = (path: string) =>
      curlCommand(aRequest({ url: `http://localhost:3000${path}` }), false).includes('-b jar -c jar');
    expect(['/auth/refresh-token', '/service/auth/clear-cookie', '/users/me', '/authors'].map(jarOf)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

describe('an answer', () => {
  const token = `eyJhbGciOiJFUzI1NiJ9.${'e30'.repeat(20)}.signature`;
  it('has its tokens shortened, unless they are revealed', () => {
    const answer = { data: { accessToken: token, user: { username: 'eyJ' } } };
    expect(JSON.parse(prettyAnswer(answer, false))).toEqual({
      data: { accessToken: 'eyJhbGciOiJFUzI1…', user: { username: 'eyJ' } },
    });
    expect(JSON.parse(prettyAnswer(answer, true))).toEqual(answer);
  });

  it('has no secret of an app and no recovery code, unless they are revealed', () => {
    const code = 'AUTH_SECOND_FACTOR_REQUIRED';
    const answer = { code, data: { id: '1', secret: 'S', uri: 'otpauth://S', qr: '<svg>', recoveryCodes: ['A', 'B'] } };
    expect(JSON.parse(prettyAnswer(answer, false))).toEqual({
      code,
      data: { id: '1', secret: '***', uri: '***', qr: '***', recoveryCodes: ['***', '***'] },
    });
    expect(JSON.parse(prettyAnswer(answer, true))).toEqual(answer);
    expect(JSON.parse(prettyAnswer({ data: { recoveryCodes: 9 } }, false))).toEqual({ data: { recoveryCodes: 9 } });
  });
});
