import { randomBytes } from 'node:crypto';
import type { Response } from 'supertest';
import { describe, expect, it } from 'vitest';
import { codeAt } from '../support/authenticator-app.ts';
import { heldFrom } from '../support/http/auth-http.ts';
import { aPerson } from '../support/http/service.ts';
import { canShare, twoInstances } from '../support/processes/instances.ts';
import { tally } from '../support/tally.ts';

const CROWD = 40;
const STEP = 30_000;
const ONE = { '200': 1, '401 AUTH_SECOND_FACTOR_INVALID': CROWD - 1 };

describe.runIf(canShare())('two instances', () => {
  const { at } = twoInstances({
    BASE_URL: 'https://auth.example.org',
    FACTOR_KEYS: randomBytes(32).toString('base64url'),
  });

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
    return { person, secret, recoveryCodes: body.data.recoveryCodes as readonly string[], sessions };
  };
  const pendingOf = async (index: number, { username, password }: ReturnType<typeof aPerson>) => {
    const response = await post(index, '/auth/login', { account: username, password }).expect(401);
    return { Cookie: response.get('Set-Cookie')?.[0]?.split(';')[0] ?? '' };
  };
  const pendingCrowd = (person: ReturnType<typeof aPerson>) =>
    Promise.all(Array.from({ length: CROWD }, (_none, index) => pendingOf(index, person)));

  // Proves: asvs-6.5.1, nist-2
  it(`open one session for a code that is sent ${CROWD} times at once`, async () => {
    const { person, secret, sessions } = await enrolled();
    const cookies = await pendingCrowd(person);
    const before = await sessions();
    const code = codeAt(secret, Date.now() + STEP);
    const answers = await crowd((index) => post(index, '/auth/login/second-factor', { code }, cookies[index]));
    expect(tally(answers)).toEqual(ONE);
    expect(await sessions()).toBe(before + 1);
  });

  // Proves: asvs-6.5.1, nist-2
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
});
