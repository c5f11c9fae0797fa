import { randomBytes } from 'node:crypto';
import type { Response } from 'supertest';
import { describe, expect, it } from 'vitest';
import { authenticator } from '../support/authenticator.ts';
import { codeAt } from '../support/authenticator-app.ts';
import { heldFrom } from '../support/http/auth-http.ts';
import { aPerson } from '../support/http/service.ts';
import { CHEAP_HASHES, CLOCKS_APART, canShare, twoInstances } from '../support/processes/instances.ts';
import { tally } from '../support/tally.ts';

const CROWD = 40;
const STEP = 30_000;
const HOST = 'auth.example.org';
const ONE = { '200': 1, '401 AUTH_SECOND_FACTOR_INVALID': CROWD - 1 };
const ONE_OF_A_PASSKEY = { '200': 1, '401 AUTH_PASSKEY_INVALID': CROWD - 1 };

describe.runIf(canShare())('two instances', () => {
  const { at } = twoInstances(
    {
      ...CHEAP_HASHES,
      BASE_URL: `https://${HOST}`,
      FACTOR_KEYS: randomBytes(32).toString('base64url'),
    },
    CLOCKS_APART,
  );

  const post = (instance: number, path: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
    at(instance).http.post(path).set(headers).send(body);
  const crowd = (send: (index: number) => PromiseLike<Response>): Promise<Response[]> =>
    Promise.all(Array.from({ length: CROWD }, (_none, index) => send(index)));

  /** A user with an authenticator app, whose next code is of the step after the one that has confirmed it. */
  const enrolled = async () => {
    const person = aPerson();
    const { accessToken } = heldFrom(await post(0, '/auth/register', person).expect(201));
    const me = { Authorization: `Bearer ${accessToken}` };
    const { id, secret } = (await post(0, '/users/me/factors/totp', {}, me).expect(201)).body.data;
    const code = codeAt(secret, Date.now());
    const { body } = await post(1, '/users/me/factors/totp/confirm', { id, code }, me).expect(200);
    const sessions = async () => (await at(0).http.get('/auth/sessions').set(me).expect(200)).body.data.length;
    return { person, me, secret, recoveryCodes: body.data.recoveryCodes as readonly string[], sessions };
  };
  /** The same with a passkey. */
  const withPasskey = async () => {
    const user = await enrolled();
    const key = authenticator({ rpId: HOST, origin: `https://${HOST}` });
    const options = (await post(0, '/users/me/passkeys/options', {}, user.me).expect(200)).body.data;
    await post(1, '/users/me/passkeys', { credential: key.create(options) }, user.me).expect(201);
    return { ...user, key };
  };
  const pendingOf = async (index: number, { username, password }: ReturnType<typeof aPerson>) => {
    const response = await post(index, '/auth/login', { account: username, password }).expect(401);
    return { Cookie: response.get('Set-Cookie')?.[0]?.split(';')[0] ?? '' };
  };
  const pendingCrowd = (person: ReturnType<typeof aPerson>) =>
    Promise.all(Array.from({ length: CROWD }, (_none, index) => pendingOf(index, person)));

  it(`open one session for a code that is sent ${CROWD} times at once`, async () => {
    const { person, secret, sessions } = await enrolled();
    const cookies = await pendingCrowd(person);
    const before = await sessions();
    const code = codeAt(secret, Date.now() + STEP);
    const answers = await crowd((index) => post(index, '/auth/login/second-factor', { code }, cookies[index]));
    expect(tally(answers)).toEqual(ONE);
    expect(await sessions()).toBe(before + 1);
  });

  it(`open one session for a recovery code that is sent ${CROWD} times at once`, async () => {
    const { person, recoveryCodes, sessions } = await enrolled();
    const cookies = await pendingCrowd(person);
    const before = await sessions();
    const [recoveryCode] = recoveryCodes;
    const answers = await crowd((index) => post(index, '/auth/login/second-factor', { recoveryCode }, cookies[index]));
    expect(tally(answers)).toEqual(ONE);
    expect(await sessions()).toBe(before + 1);
  });

  it(`open one session for a pending log-in that is finished ${CROWD} times at once`, async () => {
    const { person, recoveryCodes, sessions } = await enrolled();
    const cookie = await pendingOf(0, person);
    const before = await sessions();
    const codeOf = (index: number) => ({ recoveryCode: recoveryCodes[index % recoveryCodes.length] });
    const answers = await crowd((index) => post(index, '/auth/login/second-factor', codeOf(index), cookie));
    expect(tally(answers)).toEqual(ONE);
    expect(await sessions()).toBe(before + 1);
  });

  it(`open one session for the answer of a passkey that is sent ${CROWD} times at once`, async () => {
    const { key, sessions } = await withPasskey();
    const before = await sessions();
    const credential = key.get((await post(0, '/auth/passkey/options', {}).expect(200)).body.data);
    const answers = await crowd((index) => post(index, '/auth/passkey', { credential }));
    expect(tally(answers)).toEqual(ONE_OF_A_PASSKEY);
    expect(await sessions()).toBe(before + 1);
  });

  it(`open one session for a passkey that is shown ${CROWD} times at once after the password`, async () => {
    const { person, key, sessions } = await withPasskey();
    const cookies = await pendingCrowd(person);
    const before = await sessions();
    const [first = {}] = cookies;
    const { passkey } = (await at(1).http.get('/auth/login/pending').set(first).expect(200)).body.data;
    const credential = key.get(passkey, { isUserVerified: false });
    const answers = await crowd((index) => post(index, '/auth/login/second-factor', { credential }, cookies[index]));
    expect(tally(answers)).toEqual(ONE_OF_A_PASSKEY);
    expect(await sessions()).toBe(before + 1);
  });

  it(`confirm an authenticator app once with a first code that is sent ${CROWD} times at once`, async () => {
    const person = aPerson();
    const { accessToken } = heldFrom(await post(0, '/auth/register', person).expect(201));
    const me = { Authorization: `Bearer ${accessToken}` };
    const { id, secret } = (await post(0, '/users/me/factors/totp', {}, me).expect(201)).body.data;
    const body = { id, code: codeAt(secret, Date.now()) };
    const answers = await crowd((index) => post(index, '/users/me/factors/totp/confirm', body, me));
    const [confirmed, ...others] = answers.toSorted((a, b) => a.status - b.status);
    expect(confirmed?.body.data?.recoveryCodes).toHaveLength(10);
    // The app is confirmed for those that come later.
    const refusals = ['AUTH_SECOND_FACTOR_INVALID', 'DB_RECORD_NOT_FOUND'];
    expect(others.filter(({ body }) => !refusals.includes(body.code))).toEqual([]);
    const { data } = (await at(1).http.get('/users/me/factors').set(me).expect(200)).body;
    expect(data).toMatchObject({ totp: [{ id }], recoveryCodes: 10 });
    const events = (await at(1).http.get('/users/me/events').set(me).expect(200)).body.data;
    expect(JSON.stringify(events).split('"second-factor-added"')).toHaveLength(2);
    const [recoveryCode] = confirmed?.body.data.recoveryCodes ?? [];
    await post(0, '/auth/login/second-factor', { recoveryCode }, await pendingOf(1, person)).expect(200);
  });
});
