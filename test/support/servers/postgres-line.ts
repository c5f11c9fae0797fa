import { connect, createServer, type Socket } from 'node:net';
import { listenOnLoopback } from '../listen.ts';

/** When connections end: before the server gets the statement, or when it has executed the statement and answers. */
type Cut = { readonly statement: string; readonly when: 'before' | 'after' };

/** The bytes that the type and the length of a message take. The first message of a connection has no type. */
const [TYPE, LENGTH] = [1, 4];

/** Calls `onMessage` with each complete message of a client. */
const eachMessage = (onMessage: (type: string, body: Buffer, whole: Buffer) => void) => {
  let pending = Buffer.alloc(0);
  let isFirst = true;
  return (chunk: Buffer): void => {
    pending = Buffer.concat([pending, chunk]);
    for (;;) {
      const type = isFirst ? 0 : TYPE;
      if (pending.length < type + LENGTH) return;
      const end = type + pending.readUInt32BE(type);
      if (pending.length < end) return;
      const whole = pending.subarray(0, end);
      pending = pending.subarray(end);
      onMessage(isFirst ? '' : whole.toString('latin1', 0, TYPE), whole.subarray(type + LENGTH), whole);
      isFirst = false;
    }
  };
};

const textAt = (body: Buffer, start = 0): string => body.toString('utf8', start, body.indexOf(0, start));

/** A proxy of a PostgreSQL without TLS. It records the statements of clients, and can end the connection at one of them. */
export const openPostgresLine = async (server: string) => {
  const target = new URL(server);
  const near = new Set<Socket>();
  let sent: string[][] = [];
  let cut: Cut | null = null;
  const listener = createServer((client) => {
    const far = connect(Number(target.port), target.hostname);
    /** The statements prepared on this connection, by name. */
    const prepared = new Map<string, string>();
    near.add(client);
    const end = () => {
      client.destroy();
      far.destroy();
      near.delete(client);
    };
    const isCutAt = (statement: string, when: Cut['when']) => cut?.statement === statement && cut.when === when;
    const note = (statement: string): void => {
      sent.at(-1)?.push(statement);
      if (isCutAt(statement, 'before')) end();
      if (isCutAt(statement, 'after')) {
        far.unpipe(client);
        far.once('data', end).resume();
      }
    };
    far.pipe(client);
    client.on('data', () => void sent.push([]));
    client.on(
      'data',
      eachMessage((type, body, whole) => {
        if (type === 'Q') note(textAt(body));
        if (type === 'P') prepared.set(textAt(body), textAt(body, body.indexOf(0) + 1));
        // The message has the name of a portal and then that of the statement.
        if (type === 'B') note(prepared.get(textAt(body, body.indexOf(0) + 1)) ?? '');
        far.write(whole);
      }),
    );
    for (const socket of [client, far]) socket.on('error', () => undefined).on('close', end);
  });
  const { port, close } = await listenOnLoopback(listener);
  const url = new URL(server);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    /** Returns the statements since the last call. The statements of one list were sent together, in one round trip. */
    take: (): string[][] => sent.splice(0).filter((each) => each.length > 0),
    cutAt: (given: Cut | null): void => {
      cut = given;
    },
    close: (): void => {
      void close();
      for (const client of near) client.destroy();
      sent = [];
    },
  };
};
