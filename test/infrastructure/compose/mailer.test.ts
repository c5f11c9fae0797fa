import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/infrastructure/config.ts';
import { openMailer } from '../../../src/infrastructure/delivery.ts';
import { MAIL } from '../../contracts/mailer/store.ts';
import { openSmtpServer } from '../../support/mail/smtp-server.ts';
import { NO_WARNINGS } from '../../support/processes/environments.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
});

const opened = async (env: Readonly<Record<string, string>> = {}) => {
  const lines: unknown[][] = [];
  const config = parseConfig({ DATA_DIR: directory.path, ...env });
  return { lines, mailer: await openMailer(config, { info: (...line: unknown[]) => void lines.push(line) }) };
};

describe('the mailer of a configuration', () => {
  it('writes mail to DATA_DIR and its links to the log, outside production', async () => {
    const { mailer, lines } = await opened();
    expect(existsSync(join(directory.path, 'mail'))).toBe(false);
    const link = 'http://localhost:3000/account/password-reset#token=abc';
    expect(await mailer?.send({ ...MAIL, text: `Open ${link}` })).toBe('sent');
    const [name = ''] = readdirSync(join(directory.path, 'mail'));
    expect(lines).toEqual([[{ path: join(directory.path, 'mail', name), links: [link] }, expect.any(String)]]);
  });

  it('sends over SMTP to MAIL_URL, from MAIL_FROM', async () => {
    const server = await openSmtpServer();
    const env = { ...NO_WARNINGS, MAIL_URL: `smtp://127.0.0.1:${server.port}`, MAIL_FROM: 'auth@example.com' };
    expect(await (await opened(env)).mailer?.send(MAIL)).toBe('sent');
    expect(server.messages).toMatchObject([{ from: 'auth@example.com', recipients: [MAIL.to] }]);
    expect(existsSync(join(directory.path, 'mail'))).toBe(false);
  });

  it.runIf(process.geteuid !== undefined)(
    'closes the mail of an earlier start to others, or does not start',
    async () => {
      const mail = join(directory.path, 'mail');
      mkdirSync(mail);
      for (const path of [directory.path, mail]) chmodSync(path, 0o755);
      await opened();
      expect([directory.path, mail].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700]);

      const open = temporaryDirectory();
      chmodSync(open.path, 0o755);
      const dataDir = join(directory.path, 'data');
      mkdirSync(dataDir);
      symlinkSync(open.path, join(dataDir, 'mail'));
      await expect(opened({ DATA_DIR: dataDir })).rejects.toThrow(
        /^The mail in DATA_DIR cannot be protected: everybody may enter mail/,
      );
    },
  );
});
