import { closeSync, constants, openSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

/** The directory in DATA_DIR that has the socket. Only the user of the service can enter it. */
export const SOCKET_DIRECTORY = 'run';
const NAME = 'backup.sock';

/** Bytes of `sun_path` without the NUL: 108 on Linux, 104 on macOS and the BSDs. */
const MAX_BYTES = (process.platform === 'linux' ? 108 : 104) - 1;

export type SocketAddress = {
  readonly path: string;
  /** To be called when the socket is closed. */
  readonly release: () => void;
};

/**
 * The path of the socket over which a running service is asked for a backup. Linux can name a directory by a descriptor, so that the
 * path is never too long.
 * @returns `null` where there is no such path.
 * @throws Error of the system, when there is no such directory.
 */
export const socketAddress = (dataDir: string): SocketAddress | null => {
  if (process.platform === 'win32') return null;
  const directory = join(realpathSync(dataDir), SOCKET_DIRECTORY);
  const path = join(directory, NAME);
  if (Buffer.byteLength(path) <= MAX_BYTES) return { path, release: () => undefined };
  if (process.platform !== 'linux') return null;
  const descriptor = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  return { path: `/proc/self/fd/${descriptor}/${NAME}`, release: () => closeSync(descriptor) };
};
