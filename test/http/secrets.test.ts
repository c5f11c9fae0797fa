// Proves SPEC 2.6, 16.4, 20.21, 21.11; ASVS 16.2.5, 16.3.2, 16.5.1; network-7, theft-5
import type { KeyObject } from 'node:crypto';
import type { Response } from 'supertest';
import { describe, expect, it } from 'vitest';
import { forged, refreshWith, servicesOverOneDatabase, tokenIn, tokensOf } from '../support/http/auth-http.ts';
import { aPerson, type TestService } from '../support/http/service.ts';

/** Passwords that occur nowhere else, so that a text search finds only a leak. */
const PASSWORD = 'marker-of-the-right-password';
const WRONG = 'marker-of-a-wrong-password';
const IN_BODIES = 'marker-in-a-malformed-body';

const { start } = servicesOverOneDatabase();

/** The lines of a key's PEM, and its private scalar: none may be found. */
const partsOf = (key: KeyObject): string[] => {
  const pem = String(key.export({ format: 'pem', type: 'pkcs8' }));
  const { d } = key.export({ format: 'jwk' });
  return [...pem.split('\n').filter((line) => line.length > 16 && !line.startsWith('-----')), String(d)];
};

/** A token and its signature. */
const tokenParts = (token: string): string[] => [token, token.split('.')[2] ?? token];

const keyParts = ({ config: { keys } }: TestService): string[] =>
  keys === null ? [] : [keys.access, keys.refresh].flatMap(({ privateKey }) => partsOf(privateKey));

/** Valid and invalid requests to every route. @returns the responses, and the secrets that were sent and received. */
const requestEverything = async (service: TestService) => {
  const { http } = service;
  const responses: Response[] = [];
  const secrets = new Set([PASSWORD, WRONG, IN_BODIES, ...keyParts(service)]);
  const keep = async (sent: PromiseLike<Response>): Promise<Response> => {
    const response = await sent;
    responses.push(response);
    return response;
  };
  const signedIn = async (sent: PromiseLike<Response>) => {
    const held = tokensOf(await keep(sent));
    for (const part of [held.accessToken, tokenIn(held.cookie)].flatMap(tokenParts)) secrets.add(part);
    return held;
  };
  const post = (path: string, body: object) => http.post(path).send(body);
  const me = (authorization: string) => http.get('/users/me').set('Authorization', authorization);

  const person = { ...aPerson(), password: PASSWORD };
  const registered = await signedIn(post('/auth/register', person));
  await keep(post('/auth/register', person));
  const loggedIn = await signedIn(post('/auth/login', { account: person.email, password: PASSWORD }));
  await keep(post('/auth/login', { account: person.username, password: WRONG }));
  await keep(post('/auth/login', { account: 'nobody', password: WRONG }));
  await keep(me(`Bearer ${registered.accessToken}`));
  await keep(me(`Bearer ${forged(registered.accessToken)}`));
  await keep(me(`Bearer ${tokenIn(registered.cookie)}`));
  await keep(me(`Basic ${Buffer.from(`ada:${WRONG}`).toString('base64')}`));
  await keep(http.get('/auth/session').set('Authorization', `Bearer ${registered.accessToken}`));

  const once = await signedIn(refreshWith(service, registered.cookie));
  await keep(refreshWith(service, registered.cookie));
  await signedIn(refreshWith(service, once.cookie));
  await keep(refreshWith(service, registered.cookie));
  await keep(refreshWith(service, forged(loggedIn.cookie)));
  await keep(refreshWith(service, `refresh_token=${loggedIn.accessToken}`));
  await keep(http.get('/auth/clear-cookie').set('Cookie', loggedIn.cookie));
  await keep(refreshWith(service, loggedIn.cookie));

  const change = (currentPassword: string) =>
    http
      .put('/users/me/password')
      .set('Authorization', `Bearer ${registered.accessToken}`)
      .send({ currentPassword, newPassword: IN_BODIES });
  await keep(change(WRONG));
  const json = { 'Content-Type': 'application/json' };
  for (const path of ['/auth/register', '/auth/login']) {
    await keep(http.post(path).set(json).send(`{"password":"${IN_BODIES}"`));
    await keep(http.post(path).set(json).send(`"${IN_BODIES}"`));
    await keep(http.post(path).set(json).send(IN_BODIES));
    await keep(
      http
        .post(path)
        .set(json)
        .send(`{"password":"${IN_BODIES.repeat(700)}"}`),
    );
    await keep(http.post(path).set('Content-Type', 'text/plain').send(IN_BODIES));
    await keep(http.post(path).set(json).set('Content-Encoding', 'gzip').send(`{"password":"${IN_BODIES}"}`));
    await keep(http.post(path).set('Content-Type', `application/json; charset=${IN_BODIES}`).send(`{"a":"b"}`));
    await keep(http.post(path).set(json).set('Content-Encoding', IN_BODIES).send(`{"a":"b"}`));
    await keep(post(path, { account: [IN_BODIES], username: IN_BODIES.repeat(2), password: { is: IN_BODIES } }));
    await keep(post(`${path}?password=${IN_BODIES}`, {}));
  }
  await keep(http.get(`/errors/${IN_BODIES}`));
  await keep(http.get(`/${IN_BODIES}?password=${IN_BODIES}`));
  const stored = await service.ports.users.findByUsername(person.username);
  secrets.add(stored?.passwordHash ?? '');
  return { responses, secrets: [...secrets] };
};

/** Error responses; only a success may contain a token, in its body and its cookie. */
const errorsIn = (responses: readonly Response[]) => responses.filter(({ status }) => status >= 400);
const headersAndBodyOf = ({ headers, text }: Response): string => `${JSON.stringify(headers)}\n${text}`;

/** Patterns of stacks, SQL, file paths and internals of libraries. */
const INTERNALS =
  /\n\s*at |\\n\s+at |\.[cm]?[jt]s\b|node_modules|file:\/\/|\/src\/|select .* from|insert into|delete from|update .* set|sqlite|mikro|kysely|postgres|valibot|koa/i;

const service = await start();
const { responses, secrets } = await requestEverything(service);

describe('requests to every route', () => {
  it('get every expected status', () => {
    const statuses = new Set(responses.map(({ status }) => status));
    expect([...statuses].sort()).toEqual([200, 201, 400, 401, 404, 409, 413, 415]);
    expect(secrets.filter((secret) => secret.length < 16)).toEqual([]);
    // At least three passwords, two keys, five pairs of tokens and a hash.
    expect(secrets.length).toBeGreaterThan(20);
  });

  it('are logged in one line each, without secrets', () => {
    expect(service.logs.filter(({ msg }) => msg === 'request answered')).toHaveLength(responses.length);
    const logged = service.logs.map((line) => JSON.stringify(line));
    for (const secret of secrets) expect(logged.filter((line) => line.includes(secret))).toEqual([]);
    expect(logged.filter((line) => line.includes('PRIVATE KEY'))).toEqual([]);
  });

  it('get no secret, no stack, no SQL and no file path in an error', () => {
    const errors = errorsIn(responses);
    expect(errors.length).toBeGreaterThan(20);
    for (const { text } of errors) expect(text).not.toMatch(INTERNALS);
    for (const text of errors.map(headersAndBodyOf))
      expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  });

  it('get no hash and no key in any response', () => {
    for (const text of responses.map(headersAndBodyOf)) expect(text).not.toMatch(/\$2[aby]\$|PRIVATE KEY|passwordHash/);
    for (const part of keyParts(service))
      expect(responses.filter((response) => headersAndBodyOf(response).includes(part))).toEqual([]);
  });
});

/** An error of a database driver that contains its input, as does its cause. */
const errorWithSecrets = (given: { readonly message: string; readonly members: object }) =>
  Object.assign(new Error(given.message, { cause: Object.assign(new Error('inside'), given.members) }), given.members);

describe('an unexpected exception', () => {
  const hash = `$2b$10$${'h'.repeat(53)}`;
  const token = `eyJhbGciOiJFUzI1NiJ9.${'p'.repeat(40)}.${'s'.repeat(86)}`;
  const key = `-----BEGIN PRIVATE KEY-----\n${'K'.repeat(64)}\n-----END PRIVATE KEY-----`;
  const sql = `insert into "users" ("password_hash") values ('${hash}') /* ${PASSWORD} ${token} ${key} */`;
  const members = {
    sql,
    query: { text: sql, values: [PASSWORD, hash, token] },
    parameters: [PASSWORD, hash, token, key],
    detail: `Key (password)=(${PASSWORD}) already exists.`,
    config: { headers: { authorization: `Bearer ${token}`, cookie: `refresh_token=${token}` } },
    user: { passwordHash: hash, password: PASSWORD },
  };
  const SECRETS = [PASSWORD, hash, token, 's'.repeat(86), 'K'.repeat(64)];

  /** Logs in with a database that throws the exception. */
  const logInDespite = async (exception: unknown) => {
    const service = await start({}, ({ users }) => ({
      users: { ...users, findByUsername: () => Promise.reject(exception) },
    }));
    const response = await service.http.post('/auth/login').send({ account: 'ada', password: PASSWORD });
    return { response, logs: service.logs };
  };

  it('is answered 500, without any of its text', async () => {
    const { response } = await logInDespite(errorWithSecrets({ message: sql, members }));
    expect([response.status, response.body.code]).toEqual([500, 'SYS_UNEXPECTED_ERROR']);
    expect(headersAndBodyOf(response)).not.toMatch(INTERNALS);
    for (const secret of SECRETS) expect(headersAndBodyOf(response)).not.toContain(secret);
  });

  it('is logged at fatal with its stack frames, without the secrets in its members', async () => {
    const { logs } = await logInDespite(errorWithSecrets({ message: 'the connection broke', members }));
    const [line, ...more] = logs.filter(({ level }) => level === 'fatal');
    expect(more).toEqual([]);
    expect(line).toMatchObject({ code: 'SYS_UNEXPECTED_ERROR', err: { type: 'Error', stack: expect.any(String) } });
    for (const secret of SECRETS) expect(JSON.stringify(logs)).not.toContain(secret);
  });
});
