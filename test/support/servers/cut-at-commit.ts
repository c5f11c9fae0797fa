import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/**
 * A line to a PostgreSQL that is cut at the commit of the transaction with this text in a statement.
 * @param arrives whether the server gets the commit, so that only its answer is lost.
 */
export const openLineCutAtCommit = async (server: string, text: string, arrives: boolean) => {
  const target = new URL(server);
  const listener = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    const cut = () => {
      near.destroy();
      far.destroy();
    };
    let isIn = false;
    far.pipe(near);
    near.on('data', (bytes) => {
      const statement = bytes.toString('latin1');
      isIn ||= statement.includes(text);
      if (!isIn || !/\bcommit\b/i.test(statement)) return void far.write(bytes);
      far.unpipe(near);
      if (!arrives) return cut();
      far.once('data', cut).resume();
      return void far.write(bytes);
    });
    for (const socket of [near, far]) socket.on('error', cut).on('close', cut);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const url = new URL(server);
  url.host = `127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return { url: url.href, close: () => void listener.close() };
};
