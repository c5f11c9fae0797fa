// Proves mail-1, mail-3, mail-4
import { createServer, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { inspect } from 'node:util';
import type { SMTPServerOptions } from 'smtp-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { smtpMailer } from '../../../src/adapters/mailer/smtp.ts';
import { rejection } from '../../contracts/hooks.ts';
import { MAIL } from '../../contracts/mailer/store.ts';
import { selfSigned } from '../../support/certificate.ts';
import { runAtEnd } from '../../support/closing.ts';
import { listenOnLoopback } from '../../support/listen.ts';
import { openSmtpServer, reply } from '../../support/mail/smtp-server.ts';

const FROM = 'Tandem <tandem@localhost>';
const TRUSTED = await selfSigned('localhost');
const UNKNOWN = await selfSigned('localhost');
const OF_ANOTHER = await selfSigned('mail.example.com');

const usual = getCACertificates('default');
beforeAll(() => setDefaultCACertificates([...usual, TRUSTED.cert, OF_ANOTHER.cert]));
afterAll(() => setDefaultCACertificates(usual));

type Way = {
  readonly scheme?: string;
  readonly user?: string;
  readonly requireTls?: boolean;
  readonly timeout?: number;
};

const mailerAt = (port: number, { scheme = 'smtp', user = '', requireTls = false, ...rest }: Way = {}) =>
  smtpMailer({ url: `${scheme}://${user}localhost:${port}`, from: FROM, requireTls, ...rest });

const open = async (options: SMTPServerOptions, way?: Way) => {
  const server = await openSmtpServer(options);
  return { server, mailer: mailerAt(server.port, way) };
};

/** A server that does with each connection what the test says. */
const openRaw = async (onConnection: (socket: Socket) => void) => {
  const server = createServer((socket) => {
    runAtEnd(() => socket.destroy());
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  return listenOnLoopback(server);
};

const reasonOf = async (call: Promise<unknown>): Promise<unknown> =>
  Reflect.get((await rejection(call)) as Error, 'reason');

describe('a message', () => {
  it('has a sender, an address, a date and an id of the domain of the sender, and does not name the program', async () => {
    const { server, mailer } = await open({});
    await mailer.send(MAIL);
    const [message] = server.messages;
    const [head = ''] = message?.raw.toString().split('\r\n\r\n') ?? [];
    expect(message?.from).toBe('tandem@localhost');
    expect(head).toMatch(/^From: Tandem <tandem@localhost>$/m);
    expect(head).toMatch(/^To: ann\.o-neil\+tandem@mail\.example\.com$/m);
    expect(head).toMatch(/^Message-ID: <01KAMA5A7000000000000000M1@localhost>$/m);
    expect(head).toMatch(/^Date: /m);
    expect(head).toMatch(/^Content-Type: multipart\/alternative;/m);
    expect(head).not.toMatch(/^X-|nodemailer/im);
  });

  it('is quoted-printable in any language', async () => {
    const { server, mailer } = await open({});
    await mailer.send({ ...MAIL, text: '你好', html: '<p>привет</p>' });
    const encodings = server.messages[0]?.raw.toString().match(/^Content-Transfer-Encoding: .*$/gm);
    expect(encodings?.map((line) => line.trim())).toEqual([
      'Content-Transfer-Encoding: quoted-printable',
      'Content-Transfer-Encoding: quoted-printable',
    ]);
  });

  it('is sent without a name of the sender, and with one in any language', async () => {
    const server = await openSmtpServer();
    for (const from of ['auth@example.com', 'Das Büro. Ja! <auth@example.com>']) {
      await smtpMailer({ url: `smtp://127.0.0.1:${server.port}`, from, requireTls: false }).send(MAIL);
    }
    const senders = server.messages.map(({ raw }) => /^From: (.*)$/m.exec(raw.toString())?.[1]?.trim());
    expect(senders).toEqual(['auth@example.com', expect.stringMatching(/^=\?UTF-8\?.*\?= <auth@example\.com>$/)]);
  });
});

describe('TLS', () => {
  it('is used from the start with smtps:', async () => {
    const { server, mailer } = await open({ ...TRUSTED, secure: true }, { scheme: 'smtps' });
    expect(await mailer.send(MAIL)).toBe('sent');
    expect(server.messages).toHaveLength(1);
  });

  it('is used with smtp: when the server offers STARTTLS', async () => {
    const secure: boolean[] = [];
    const { mailer } = await open({
      ...TRUSTED,
      onMailFrom: (_address, session, done) => {
        secure.push(session.secure);
        done();
      },
    });
    expect(await mailer.send(MAIL)).toBe('sent');
    expect(secure).toEqual([true]);
  });

  it.each([
    ['smtps: and an unknown certificate', UNKNOWN, { scheme: 'smtps' }, /DEPTH_ZERO_SELF_SIGNED_CERT/],
    ['smtps: and the certificate of another', OF_ANOTHER, { scheme: 'smtps' }, /ERR_TLS_CERT_ALTNAME_INVALID/],
    ['STARTTLS and an unknown certificate', UNKNOWN, {}, /DEPTH_ZERO_SELF_SIGNED_CERT/],
    ['STARTTLS and the certificate of another', OF_ANOTHER, {}, /ERR_TLS_CERT_ALTNAME_INVALID/],
  ])('protects the mail and the password: %s', async (_what, certificate, way, reason) => {
    const seen: string[] = [];
    const { server, mailer } = await open(
      {
        ...certificate,
        secure: 'scheme' in way,
        onAuth: ({ username }, _session, done) => {
          seen.push(username ?? '');
          done(null, { user: 1 });
        },
      },
      { ...way, user: 'tandem:secret@' },
    );
    expect(await reasonOf(mailer.send(MAIL))).toMatch(reason);
    expect(server.messages).toEqual([]);
    expect(seen).toEqual([]);
  });

  it('is required where the caller says so: a server without it gets neither the password nor the mail', async () => {
    const commands: string[] = [];
    const { port } = await openRaw((socket) => {
      socket.write('220 here\r\n');
      socket.on('data', (chunk) => {
        const command = chunk.toString().trim();
        commands.push(command);
        socket.write(command.startsWith('EHLO') ? '250-here\r\n250 AUTH PLAIN\r\n' : '502 unknown\r\n');
      });
    });
    const mailer = mailerAt(port, { requireTls: true, user: 'tandem:secret@' });
    expect(await reasonOf(mailer.send(MAIL))).toMatch(/ETLS.*502/);
    expect(commands).toEqual([expect.stringMatching(/^EHLO /), 'STARTTLS']);
  });
});

describe('a log-in', () => {
  const accounts = (user: string, password: string): SMTPServerOptions => ({
    ...TRUSTED,
    authOptional: false,
    onAuth: ({ username, password: given }, _session, done) =>
      username === user && given === password
        ? done(null, { user })
        : done(reply(535, `no such account: ${username} ${given}`)),
  });

  it('has the name and the password of the URL', async () => {
    const { server, mailer } = await open(accounts('a@b.example', 'p@:/%'), { user: 'a%40b.example:p%40%3A%2F%25@' });
    expect(await mailer.send(MAIL)).toBe('sent');
    expect(server.messages).toHaveLength(1);
  });

  it.each([
    ['is refused', 'tandem:se-cret@', 535],
    ['is required and missing', '', 530],
  ])('that %s is to be corrected, so that the mail can be sent again', async (_what, user, code) => {
    const { mailer } = await open(accounts('tandem', 'another'), { user });
    const error = await rejection(mailer.send(MAIL));
    expect(error).toHaveProperty('reason', expect.stringContaining(String(code)));
    expect(inspect(error, { depth: null, showHidden: true })).not.toContain('se-cret');
  });
});

describe('an answer of the server', () => {
  it.each([
    ['the recipient', { onRcptTo: (_address, _session, done) => done(reply(550, 'no such user')) }],
    ['the message', { onData: (stream, _session, done) => stream.resume().on('end', () => done(reply(554, 'spam'))) }],
    ['its size', { size: 2_000 }],
  ] satisfies [string, SMTPServerOptions][])('that refuses %s for good is final', async (_what, options) => {
    const { server, mailer } = await open(options);
    expect(await mailer.send({ ...MAIL, text: 'word '.repeat(1_000) })).toBe('refused');
    expect(server.messages).toEqual([]);
  });

  it.each([
    ['the recipient for now', { onRcptTo: (_address, _session, done) => done(reply(451, 'later')) }, /451/],
    [
      'the message for now',
      { onData: (stream, _session, done) => stream.resume().on('end', () => done(reply(452, 'full'))) },
      /452/,
    ],
    [
      'the recipient for want of a log-in',
      { onRcptTo: (_address, _session, done) => done(reply(530, 'log in first')) },
      /RCPT TO.*530/,
    ],
    ['the sender', { onMailFrom: (_address, _session, done) => done(reply(550, 'who?')) }, /MAIL FROM.*550/],
    ['the client', { onConnect: (_session, done) => done(reply(554, 'no')) }, /554/],
    ['the client for now', { onConnect: (_session, done) => done(reply(421, 'busy')) }, /421/],
  ] satisfies [string, SMTPServerOptions, RegExp][])('that refuses %s is not', async (_what, options, reason) => {
    const { server, mailer } = await open(options);
    expect(await reasonOf(mailer.send(MAIL))).toMatch(reason);
    expect(server.messages).toEqual([]);
  });
});

it('a server that answers a byte now and then fails the mail in bounded time', async () => {
  const { port } = await openRaw((socket) => {
    socket.write('220 here\r\n');
    socket.once('data', () => {
      socket.write('250 here\r\n');
      // No time without a byte is long enough for a time-out of its own.
      const drip = setInterval(() => socket.write('2'), 20);
      socket.once('close', () => clearInterval(drip));
    });
  });
  expect(await reasonOf(mailerAt(port, { timeout: 400 }).send(MAIL))).toMatch(/ETIMEDOUT|EABORT/);
});
