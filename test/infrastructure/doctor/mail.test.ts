import { existsSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { mail } from '../../../src/infrastructure/commands/doctor/settings.ts';
import { brief, setUpOf } from '../../support/doctor.ts';
import { listenOnLoopback } from '../../support/listen.ts';
import { openSmtpServer, reply } from '../../support/mail/smtp-server.ts';
import { freePort } from '../../support/servers/free-port.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

const examinedAt = async (port: number) =>
  mail(setUpOf({ MAIL_URL: `smtp://tandem:S3CRET@127.0.0.1:${port}`, MAIL_FROM: 'auth@example.org' }));

/** A mail server that says nothing. */
const openSilent = async () => (await listenOnLoopback(createServer())).port;

describe('the doctor asks the mail server', () => {
  it('whether it can be used, and sends nothing', async () => {
    const server = await openSmtpServer({
      allowInsecureAuth: true,
      onAuth: (_auth, _session, done) => done(null, { user: 'tandem' }),
    });
    expect(await examinedAt(server.port)).toMatchObject({ id: 'mail.reachable', severity: 'ok' });
    expect(server.messages).toEqual([]);
  });

  it.each([
    ['is not there', freePort, 'ECONNREFUSED'],
    ['says nothing', openSilent, 'ETIMEDOUT'],
    [
      'refuses the log-in',
      async () => {
        const server = await openSmtpServer({
          allowInsecureAuth: true,
          onAuth: (_auth, _session, done) => done(reply(535, 'not tandem with S3CRET')),
        });
        return server.port;
      },
      '535',
    ],
  ])('which %s', async (_what, portOf, why) => {
    const port = await portOf();
    const seen = await examinedAt(port);
    expect(seen).toMatchObject({ id: 'mail.unreachable', severity: 'problem', seen: expect.stringContaining(why) });
    expect(JSON.stringify(seen)).not.toContain('S3CRET');
  });

  it('of HTTP as well, and makes no key for that', async () => {
    const { newPath } = temporaryDirectory();
    const { url } = await listenOnLoopback(createHttpServer((_request, response) => response.end()));
    const setUp = setUpOf({ MAIL_URL: url, MAIL_FROM: 'auth@example.org' }, newPath());
    expect(brief(await mail(setUp))).toEqual(['ok mail.reachable']);
    expect(existsSync(setUp.config.dataDir)).toBe(false);
  });

  it('only if there is one', async () => {
    expect(brief(await mail(setUpOf({})))).toEqual(['note mail.files']);
    expect(brief(await mail(setUpOf({ NODE_ENV: 'production' })))).toEqual(['note mail.none']);
  });
});
