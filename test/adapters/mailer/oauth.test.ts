// Proves mail-3
import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type MailOAuth, mailToken, smtpMailer, smtpProblem } from '../../../src/adapters/mailer/smtp.ts';
import { rejection } from '../../contracts/hooks.ts';
import { MAIL } from '../../contracts/mailer/store.ts';
import { listenOnLoopback } from '../../support/listen.ts';
import { openSmtpServer } from '../../support/mail/smtp-server.ts';

const json = (response: ServerResponse, body: object, status = 200) =>
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));

/** An authorization server that gives `token-1`, `token-2` …, for an hour. */
const authorizationServer = async (answer?: (response: ServerResponse) => unknown) => {
  const asked: Record<string, string>[] = [];
  const server = createServer(async (request, response) => {
    asked.push(Object.fromEntries(new URLSearchParams(await text(request))));
    if (answer !== undefined) answer(response);
    else json(response, { access_token: `token-${asked.length}`, token_type: 'Bearer', expires_in: 3_600 });
  });
  const { url } = await listenOnLoopback(server);
  const oauth: MailOAuth = { url: `${url}/token`, clientId: 'client', clientSecret: 's3cret' };
  return { asked, oauth };
};

/** A mail server that takes these access tokens. */
const mailServer = async (isGood: (token: string | undefined) => boolean) => {
  const presented: (string | undefined)[] = [];
  const server = await openSmtpServer({
    authOptional: false,
    authMethods: ['XOAUTH2'],
    onAuth: ({ username, accessToken }, _session, done) => {
      presented.push(accessToken);
      return isGood(accessToken) ? done(null, { user: username ?? '' }) : done(null, { data: { status: '401' } });
    },
  });
  return { ...server, presented, url: `smtp://auth%40example.com@127.0.0.1:${server.port}` };
};

describe('mail by SMTP with an access token', () => {
  it('is sent with one token until that ends', async () => {
    const [{ asked, oauth }, server] = [await authorizationServer(), await mailServer((token) => token === 'token-1')];
    const mailer = smtpMailer({ url: server.url, from: 'auth@example.com', requireTls: false, oauth });
    for (const id of ['M1', 'M2']) expect(await mailer.send({ ...MAIL, id })).toBe('sent');
    expect(server.messages).toHaveLength(2);
    expect(asked).toEqual([{ grant_type: 'client_credentials', client_id: 'client', client_secret: 's3cret' }]);
  });

  it('takes a new token in place of one that the server refuses', async () => {
    const [{ oauth }, server] = [await authorizationServer(), await mailServer((token) => token === 'token-2')];
    const mailer = smtpMailer({ url: server.url, from: 'auth@example.com', requireTls: false, oauth });
    expect(await mailer.send(MAIL)).toBe('sent');
    expect(server.presented).toEqual(['token-1', 'token-2']);
  });

  it('waits for another attempt while there is no token, and tells no secret', async () => {
    const { oauth } = await authorizationServer((response) =>
      json(response, { error: 'invalid_client', error_description: 's3cret' }, 401),
    );
    const { url } = await mailServer(() => true);
    const options = { url, requireTls: false, oauth };
    const error = await rejection(smtpMailer({ ...options, from: 'auth@example.com' }).send(MAIL));
    expect(error).toMatchObject({ code: 'SYS_UNEXPECTED_ERROR', reason: expect.stringContaining('EOAUTH2') });
    expect(inspect(error, { depth: null, showHidden: true })).not.toContain('s3cret');
    expect(await smtpProblem({ ...options, timeout: 5_000 })).toContain('EOAUTH2');
  });
});

describe('mailToken', () => {
  it('sends the scope, and the refresh token of the owner of the mailbox', async () => {
    const { asked, oauth } = await authorizationServer();
    await mailToken({ ...oauth, scope: 'https://mail.example/.default', refreshToken: 'r' }, 5_000);
    expect(asked).toEqual([
      {
        ...{ grant_type: 'refresh_token', refresh_token: 'r', scope: 'https://mail.example/.default' },
        ...{ client_id: 'client', client_secret: 's3cret' },
      },
    ]);
  });

  it.each<[string, (response: ServerResponse) => unknown]>([
    ['no JSON', (response) => response.end('<html>')],
    ['no token', (response) => json(response, { token_type: 'Bearer' })],
    ['an answer that is too long', (response) => response.end('x'.repeat(70_000))],
    ['an answer that breaks off', (response) => response.write('{', () => response.destroy())],
    ['a redirect', (response) => response.writeHead(302, { Location: 'https://evil.example/' }).end()],
  ])('rejects %s', async (_name, answer) => {
    const { oauth } = await authorizationServer(answer);
    await expect(mailToken(oauth, 5_000)).rejects.toMatchObject({ code: 'EOAUTH2' });
  });
});
