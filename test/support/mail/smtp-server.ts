import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { closedAtEnd } from '../closing.ts';

export type SmtpServer = {
  readonly port: number;
  /** The accepted messages, in order. */
  readonly messages: readonly { readonly from: string; readonly recipients: readonly string[]; readonly raw: Buffer }[];
  /** Breaks all connections. */
  readonly disconnect: () => void;
  readonly close: () => Promise<void>;
};

/** The error with which a server refuses a command or a message. */
export const reply = (responseCode: number, text: string): Error => Object.assign(new Error(text), { responseCode });

/** Opens a mail server on a port of this machine, by default any free one. It accepts everything unless `options` says otherwise. */
export const openSmtpServer = async (options: SMTPServerOptions = {}, port = 0): Promise<SmtpServer> => {
  const messages: { from: string; recipients: string[]; raw: Buffer }[] = [];
  const sockets = new Set<Socket>();
  const server = new SMTPServer({
    disabledCommands: options.cert === undefined ? ['STARTTLS'] : [],
    authOptional: true,
    disableReverseLookup: true,
    closeTimeout: 100,
    onData: (stream, { envelope: { mailFrom, rcptTo } }, done) => {
      buffer(stream).then((raw) => {
        if (stream.sizeExceeded) return done(reply(552, 'too much'));
        const from = mailFrom === false ? '' : mailFrom.address;
        messages.push({ from, recipients: rcptTo.map(({ address }) => address), raw });
        return done();
      }, done);
    },
    ...options,
  });
  // In some tests the client closes the connection, which the server reports as an error.
  server.on('error', () => undefined);
  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const listening = server.listen(port, '127.0.0.1');
  await once(listening, 'listening');
  return {
    port: (listening.address() as AddressInfo).port,
    messages,
    disconnect: () => {
      for (const socket of sockets) socket.destroy();
    },
    close: closedAtEnd(() => new Promise((resolve) => server.close(resolve))),
  };
};
