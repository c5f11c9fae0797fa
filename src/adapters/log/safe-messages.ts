/** Messages of this service, for errors that a driver does not have. */
export const DATABASE_CLOSED = 'the database is closed';
export const NO_CONNECTION = 'no connection of the pool became free in time';
export const NO_SCHEMA = 'no schema of the search_path exists';
export const NODE_OF_CLUSTER = 'connected to one node of a cluster';
export const NO_CLUSTER = 'not connected to the cluster';
export const NO_SENTINEL = 'no sentinel names the master';
export const SLOT_NOT_SERVED = 'a slot is not served';
export const EVICTS_COUNTS = 'keys are evicted when the memory is full';
export const NOT_PERMITTED = 'the user may not run a command that counting needs';
export const ODD_REPLY = 'a reply that is not that of the script';

/** Messages of drivers that quote no value, word for word. */
const OF_DRIVERS: ReadonlySet<string> = new Set([
  DATABASE_CLOSED,
  NO_CONNECTION,
  NO_SCHEMA,
  NODE_OF_CLUSTER,
  NO_CLUSTER,
  NO_SENTINEL,
  SLOT_NOT_SERVED,
  EVICTS_COUNTS,
  NOT_PERMITTED,
  ODD_REPLY,
  // node-postgres, and its pool
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'timeout exceeded when trying to connect',
  'Client has encountered a connection error and is not queryable',
  'The server does not support SSL connections',
  'There was an error establishing an SSL connection',
  'Cannot use a pool after calling end on the pool',
  // Kysely
  'driver has already been destroyed',
  // ioredis
  'Command timed out',
  'Connection is closed.',
  "Socket timeout. Expecting data, but didn't receive any in 5000ms.",
  "Stream isn't writeable and enableOfflineQueue options is false",
  "Cluster isn't ready and enableOfflineQueue options is false",
]);

const ENGINE_TYPES: ReadonlySet<string> = new Set(['TypeError', 'RangeError', 'ReferenceError']);
/** Messages of V8 that contain names of code only. Others quote values: `Cannot create property 'a' on string 'secret'`. */
const OF_THE_ENGINE =
  /^(?:[\w$.]{1,100} is not (?:a function|a constructor|defined|iterable)|Cannot (?:read|set) properties of (?:undefined|null) \((?:reading|setting) '\w{1,50}'\)|Maximum call stack size exceeded|Invalid time value)$/;

/** Redis begins its error replies with a code: OOM, LOADING, READONLY, NOAUTH, CLUSTERDOWN. */
const REDIS_CODE = /^[A-Z]{2,32}(?= )/;

type Described = { readonly name: unknown; readonly message: unknown };

/** The message of a foreign error, if it is known to quote no value. */
export const safeMessage = ({ name, message }: Described): string | undefined => {
  if (typeof message !== 'string') return undefined;
  const isOfEngine = typeof name === 'string' && ENGINE_TYPES.has(name) && OF_THE_ENGINE.test(message);
  return isOfEngine || OF_DRIVERS.has(message) ? message : undefined;
};

/** The code with which Redis begins an error reply. */
export const redisCode = ({ name, message }: Described): string | undefined =>
  name === 'ReplyError' && typeof message === 'string' ? REDIS_CODE.exec(message)?.[0] : undefined;
