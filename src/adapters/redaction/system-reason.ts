/** WASI's errno numbers, which are all that the embedded database reports: those that a directory can cause. */
const WASI_ERRNO: Readonly<Record<number, string>> = {
  2: 'EACCES: permission denied',
  29: 'EIO: i/o error',
  31: 'EISDIR: illegal operation on a directory',
  41: 'ENFILE: too many open files in system',
  33: 'EMFILE: too many open files',
  51: 'ENOSPC: no space left on device',
  54: 'ENOTDIR: not a directory',
  63: 'EPERM: operation not permitted',
  69: 'EROFS: read-only file system',
};

/**
 * Why a file or a directory could not be used, in the words of the system. For the operator at the start alone: it names paths,
 * so it is neither logged nor sent to a client.
 */
export const systemReason = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  const errno: unknown = Reflect.get(error, 'errno');
  return (typeof errno === 'number' && WASI_ERRNO[errno]) || error.message;
};
