import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { fileMailer } from '../../../src/adapters/mailer/files.ts';
import { smtpMailer } from '../../../src/adapters/mailer/smtp.ts';
import { absent } from '../../contracts/hooks.ts';
import { describeMailer } from '../../contracts/mailer.contract.ts';
import { memoryMailer } from '../../support/mail/memory-mailer.ts';
import { receivedFrom } from '../../support/mail/received.ts';
import { openSmtpServer, reply, type SmtpServer } from '../../support/mail/smtp-server.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

const FROM = 'Tandem <tandem@localhost>';

describeMailer('memoryMailer', async () => {
  const mailer = memoryMailer();
  return {
    mailer,
    received: async () =>
      mailer.mails.map(({ to, ...mail }) => ({ ...mail, recipients: [to], headers: absent('memory has no headers') })),
    refusing: absent('there is no server'),
    failing: absent('memory does not fail'),
  };
});

const root = temporaryDirectory();
afterAll(root.remove);
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
  const servers: SmtpServer[] = [];
  const open = async (options?: Parameters<typeof openSmtpServer>[0]) => {
    const server = await openSmtpServer(options);
    servers.push(server);
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
    close: async () => {
      await Promise.all(servers.map(({ close }) => close()));
    },
  };
});
