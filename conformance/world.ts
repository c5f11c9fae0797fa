import { randomBytes } from 'node:crypto';
import type { JWK } from 'jose';
import type { Client, Reply, Request } from './client.ts';
import { asCookie, refreshCookieOf } from './cookies.ts';
import { type Device, newDevice } from './device.ts';
import { bodyOf, dataOf, expectText, isObject, membersOf } from './expectations.ts';
import { type Options, Unusable } from './options.ts';
import { Mismatch, Skipped } from './outcome.ts';

export type Person = { readonly username: string; readonly email: string; readonly password: string };
export type Tokens = { readonly access: string; readonly refresh: string };
/** Two refreshes one after the other, and then the two tokens that they have replaced, once more. */
type Rotation = { readonly first: Reply; readonly second: Reply; readonly replays: readonly Reply[] };

/** What the checks share, so that a run needs few requests: everything is requested once, when it is first needed. */
export type World = Client & {
  readonly options: Options;
  readonly person: Person;
  /** For the checks that change or delete an account. It has the same password. */
  readonly second: Person;
  readonly login: (account: string, password: string, headers?: Request['headers']) => Promise<Reply>;
  readonly refresh: (token?: string) => Promise<Reply>;
  readonly registered: () => Promise<Reply>;
  /** With a proof of the device, where sessions can be bound. */
  readonly secondRegistered: () => Promise<Reply>;
  /** The device of the second account. Skips the check when the instance binds no sessions. */
  readonly device: () => Promise<Device>;
  readonly loggedIn: () => Promise<Reply>;
  readonly cleared: () => Promise<Reply>;
  readonly catalog: () => Promise<Reply>;
  readonly rotation: () => Promise<Rotation>;
  /** The tokens of the log-in. Its refresh token is never used up. */
  readonly tokens: () => Promise<Tokens>;
  /** One response for each kind of success. */
  readonly successes: () => Promise<readonly Reply[]>;
  /** One response for each kind of error, with the code that it has to have. */
  readonly errors: () => Promise<readonly (readonly [reply: Reply, code: string])[]>;
  /** The published keys. Skips the check when there are none. */
  readonly keys: () => Promise<readonly JWK[]>;
};

export const UNKNOWN_PATH = '/conformance/no-such-path';

/** Accepted by most rules: few letters and digits; a password with letters of both cases, digits and signs. */
const newPerson = (): Person => {
  const username = `conf${randomBytes(7).toString('hex')}`;
  return { username, email: `${username}@example.org`, password: `Cf-${randomBytes(15).toString('base64url')}-7` };
};

const once = <Result>(make: () => Promise<Result>): (() => Promise<Result>) => {
  let made: Promise<Result> | undefined;
  return () => {
    made ??= make();
    return made;
  };
};

/** The header `Authorization` with this access token. */
export const asBearer = (token: string): { readonly authorization: string } => ({ authorization: `Bearer ${token}` });

export const tokensOf = (reply: Reply): Tokens => ({
  access: expectText(membersOf(reply).accessToken, 'accessToken'),
  refresh: expectText(refreshCookieOf(reply).value, 'the refresh token'),
});

export const newWorld = (client: Client, options: Options): World => {
  const person = newPerson();
  const second = { ...person, username: `${person.username}b`, email: `second.${person.email}` };
  const post = (path: string, body: object, headers: Request['headers'] = {}) =>
    client.send({ method: 'POST', path, body, headers });
  const get = (path: string, headers: Request['headers'] = {}) => client.send({ method: 'GET', path, headers });
  const login: World['login'] = (account, password, headers) => post('/auth/login', { account, password }, headers);
  const refresh: World['refresh'] = (token) =>
    client.send({ method: 'POST', path: '/auth/refresh-token', headers: token === undefined ? {} : asCookie(token) });

  const register = async (body: object) => withSession(await post('/auth/register', body));
  const registered = once(() => register(person));
  const ifBinding = once(async () => {
    // The proof is refused before anything else, if there are proofs.
    const reply = await post('/auth/login', { account: second.username, password: second.password, proof: 'a.b.c' });
    const { code, timestamp } = bodyOf(reply);
    if (code !== 'AUTH_DEVICE_UNPROVEN') return null;
    return newDevice(options.url, Date.parse(String(timestamp)) - Date.now());
  });

  const loggedIn = once(async () => {
    dataOf(await registered());
    return login(person.username, person.password);
  });
  const catalog = once(() => get('/errors'));
  const rotation = once(async () => {
    const { refresh: start } = tokensOf(await registered());
    const first = await refresh(start);
    const { refresh: next } = tokensOf(first);
    const second = await refresh(next);
    return { first, second, replays: [await refresh(start), await refresh(next)] };
  });
  return {
    ...client,
    options,
    person,
    second,
    login,
    refresh,
    registered,
    secondRegistered: once(async () => {
      const proof = (await ifBinding())?.proof('/auth/register');
      return register({ ...second, ...(proof !== undefined && { proof }) });
    }),
    device: async () => {
      const device = await ifBinding();
      if (device === null) throw new Skipped('a log-in ignores proofs');
      return device;
    },
    loggedIn,
    catalog,
    rotation,
    // After the rotation, since it may end the session.
    cleared: once(async () => {
      await rotation().catch(() => undefined);
      return get('/auth/clear-cookie', asCookie(tokensOf(await registered()).refresh));
    }),
    tokens: once(async () => tokensOf(await loggedIn())),
    successes: once(async () => [await registered(), await loggedIn(), (await rotation()).first, await catalog()]),
    errors: once(async () => [
      [await post('/auth/login', {}), 'CLIENT_PARAMS_VALIDATION_FAILED'],
      [await refresh(), 'AUTH_FAILED'],
      [await get('/errors/NO_SUCH_CODE'), 'EXCEPTION_CATALOG_CODE_NOT_FOUND'],
      [await get(UNKNOWN_PATH), 'SYS_HTTP_UNEXPECTED_ERROR'],
    ]),
    keys: once(async () => keysOf(await get(options.keySet), options.keySet)),
  };
};

/** A registration that was accepted for later gives neither tokens nor a cookie: nothing could be checked. */
const withSession = (reply: Reply): Reply => {
  if (reply.status === 202 && reply.setCookies.length === 0)
    throw new Unusable(
      'registering answered 202 without tokens: the suite needs a service that opens a session at registration ' +
        '(for Tandem: EMAIL_VERIFICATION=optional or off)',
    );
  return reply;
};

const keysOf = (reply: Reply, path: string): readonly JWK[] => {
  if (reply.status === 404) throw new Skipped(`there is no key set at ${path}: name one by --key-set`);
  const { keys } = reply.status === 200 ? bodyOf(reply) : { keys: undefined };
  if (!Array.isArray(keys) || !keys.every(isObject))
    throw new Mismatch('a JWK Set', `status ${reply.status} (${reply.to})`);
  return keys as JWK[];
};

const isUnknownRoute = (reply: Reply): boolean =>
  [404, 405].includes(reply.status) && bodyOf(reply).code === 'SYS_HTTP_UNEXPECTED_ERROR';

/** The response of a route that the specification does not have. Skips the check when the instance does not have it either. */
export const ifOffered = (reply: Reply): Reply => {
  if (isUnknownRoute(reply)) throw new Skipped(`there is no route ${reply.to}`);
  return reply;
};

/** Requests a route for the guard's checks. Skips the check when the instance does not have the default one. */
export const onRoute = async (
  world: World,
  strategy: 'required' | 'optional',
  authorization?: string,
): Promise<Reply> => {
  const { path, isDefault } = world.options.routes[strategy];
  const reply = await world.send({
    method: 'GET',
    path,
    headers: authorization === undefined ? {} : { authorization },
  });
  if (isDefault && isUnknownRoute(reply))
    throw new Skipped(`there is no route ${path}: name a GET route by --${strategy}-route`);
  return reply;
};
