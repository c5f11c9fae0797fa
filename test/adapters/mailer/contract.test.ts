import { generateKeyPairSync, verify } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/adapters/clock/system.ts';
import { postSigned } from '../../../src/adapters/hooks/signing.ts';
import { fileMailer } from '../../../src/adapters/mailer/files.ts';
import { httpMailer, httpMailProblem } from '../../../src/adapters/mailer/http.ts';
import { smtpMailer } from '../../../src/adapters/mailer/smtp.ts';
import { absent } from '../../contracts/hooks.ts';
import { MAIL } from '../../contracts/mailer/store.ts';
import { describeMailer } from '../../contracts/mailer.contract.ts';
import { listenOnLoopback } from '../../support/listen.ts';
import { receivedFrom } from '../../support/mail/received.ts';
import { openSmtpServer, reply } from '../../support/mail/smtp-server.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

const FROM = 'Tandem <tandem@localhost>';

const root = temporaryDirectory();
let made = 0;

describeMailer('fileMailer', async () => {
  made += 1;
  const directory = join(root.path, `mail-${made}`);
  return {
    mailer: fileMailer({ directory, from: FROM }),
    received: async () => {
      const names = await readdir(directory).catch(() => []);
      return Promise.all(names.sort().map(async (name) => receivedFrom(await readFile(join(directory, name)))));
    },
    refusing: absent('there is no server'),
    failing: async () => {
      const file = join(root.path, `file-${made}`);
      await writeFile(file, '');
      return fileMailer({ directory: join(file, 'mail'), from: FROM });
    },
  };
});

describeMailer('smtpMailer', async () => {
  const open = async (options?: Parameters<typeof openSmtpServer>[0]) => {
    const server = await openSmtpServer(options);
    return { server, mailer: smtpMailer({ url: `smtp://127.0.0.1:${server.port}`, from: FROM, requireTls: false }) };
  };
  const answering = async (code: number) => {
    const { mailer } = await open({
      onRcptTo: ({ address }, _session, done) => done(reply(code, `not for <${address}>`)),
    });
    return mailer;
  };
  const { server, mailer } = await open();
  return {
    mailer,
    received: () => Promise.all(server.messages.map(({ raw, recipients }) => receivedFrom(raw, recipients))),
    refusing: () => answering(550),
    failing: () => answering(451),
  };
});

/** A server of the operator's own, which answers with a status. */
const mailTaker = async (status: number) => {
  const taken: { readonly type: string; readonly data: Record<string, string>; readonly isSigned: boolean }[] = [];
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as (typeof taken)[number];
    const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } = request.headers;
    const signed = Buffer.from(`${id}.${time}.${JSON.stringify(body)}`);
    const isSigned = verify(null, signed, publicKey, Buffer.from(`${signature}`.replace('v1a,', ''), 'base64'));
    if (status === 200) taken.push({ ...body, isSigned });
    response.writeHead(status).end('ann.o-neil');
  });
  const { url, close } = await listenOnLoopback(server);
  const options: Parameters<typeof httpMailProblem>[0] = {
    post: (message, signal) => postSigned(`${url}/mail`, privateKey, message, signal),
    clock: systemClock,
  };
  const mailer = httpMailer({ ...options, from: FROM });
  return { taken, options, mailer, close };
};

describeMailer('httpMailer', async () => {
  const [taker, refusing, failing] = await Promise.all([200, 422, 503].map(mailTaker));
  if (taker === undefined || refusing === undefined || failing === undefined) return expect.unreachable();
  return {
    mailer: taker.mailer,
    received: async () =>
      taker.taken.map(({ data: { id = '', to = '', subject = '', text = '', html = '' } }) => ({
        ...{ id, subject, text, html, recipients: [to], headers: absent('it is JSON') },
      })),
    refusing: async () => refusing.mailer,
    failing: async () => failing.mailer,
  };
});

describe('httpMailer', () => {
  it('signs its requests, and names the sender', async () => {
    const { taken, mailer } = await mailTaker(200);
    await mailer.send(MAIL);
    expect(taken).toMatchObject([{ type: 'mail.send', isSigned: true, data: { ...MAIL, from: FROM } }]);
  });

  it.each([
    [200, null],
    [404, '404'],
  ])('is examined without a mail: %s', async (status, why) => {
    const { options, taken, close } = await mailTaker(status);
    expect(await httpMailProblem(options)).toBe(why);
    expect(taken.map(({ type }) => type)).toEqual(why === null ? ['mail.check'] : []);
    await close();
    expect(await httpMailProblem(options)).toBe('no answer');
  });
});
