// Proves ASVS 7.5.2, 10.4.9; theft-5
import { describe, expect, it } from 'vitest';
import { MINUTE } from '../support/application.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { decode, refreshWith, servicesOverOneDatabase, signUp, tokensOf } from '../support/http/auth-http.ts';

const NOW = Date.UTC(2026, 0, 1, 12);
const { start } = servicesOverOneDatabase();
const clock = fixedClock(NOW);
const service = await start({ TRUST_PROXY: '1' }, () => ({ clock }));

type Held = { readonly accessToken: string; readonly cookie: string };

/** Logs a user in on another device. */
const logIn = async ({ email, password }: { email: string; password: string }, headers: Record<string, string> = {}) =>
  tokensOf(await service.http.post('/auth/login').set(headers).send({ account: email, password }).expect(200));

/** A user who is logged in on two devices. */
const onTwoDevices = async () => {
  const ada = await signUp(service);
  return { ada, phone: await logIn(ada.person) };
};

const as = (method: 'get' | 'delete', path: string, { accessToken }: Held) =>
  service.http[method](path).set('Authorization', `Bearer ${accessToken}`);
const list = async (held: Held) => (await as('get', '/auth/sessions', held).expect(200)).body.data;
const sessionOf = ({ accessToken }: Held) => String(decode(accessToken).header.sid);
const refreshes = async ({ cookie }: Held, headers = {}) =>
  (await refreshWith(service, cookie).set(headers)).status === 200;

describe('GET /auth/sessions', () => {
  it('returns device and times of each session, the last used first, and nothing of its tokens', async () => {
    clock.set(NOW);
    const ada = await signUp(service);
    clock.advance(MINUTE);
    const PHONE = { 'User-Agent': `A phone\t${'x'.repeat(300)}`, 'X-Forwarded-For': '2001:db8:1:2:3:4:5:6' };
    const phone = await logIn(ada.person, PHONE);
    const tablet = await logIn(ada.person, { 'User-Agent': '', 'X-Forwarded-For': '192.0.2.123' });
    clock.advance(MINUTE);
    expect(await refreshes(phone, PHONE)).toBe(true);

    const response = await as('get', '/auth/sessions', tablet).expect(200);
    const shown = (held: Held, [createdAt = 0, lastUsedAt = 0], userAgent: string | null, address: string) => ({
      ...{ id: sessionOf(held), name: null, userAgent, address, binding: 'none', remembered: false },
      createdAt: new Date(NOW + createdAt * MINUTE).toISOString(),
      lastUsedAt: new Date(NOW + lastUsedAt * MINUTE).toISOString(),
      current: held === tablet,
    });
    expect(response.body.data).toStrictEqual([
      shown(phone, [1, 2], `A phone${'x'.repeat(193)}`, '2001:db8:1::/48'),
      shown(tablet, [1, 1], null, '192.0.2.0/24'),
      shown(ada, [0, 0], null, '127.0.0.0/24'),
    ]);
    expect(response.get('Cache-Control')).toBe('no-store');
    expect(response.body.context.user).toEqual({ id: ada.user.id, username: ada.user.username });
  });

  it('returns what people call the device, also in the history', async () => {
    const ada = await signUp(service);
    const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0';
    const held = await logIn(ada.person, { 'User-Agent': firefox });
    const [session] = await list(held);
    expect(session).toMatchObject({ name: 'Firefox on Windows', userAgent: firefox, current: true });
    const { body } = await as('get', '/users/me/events', held).expect(200);
    expect(body.data.events).toMatchObject([
      { kind: 'logged-in', deviceName: 'Firefox on Windows', userAgent: firefox },
      { kind: 'registered', deviceName: null, userAgent: null },
    ]);
  });

  it('logs no address and no user agent', async () => {
    const { accessToken } = await signUp(service);
    await service.http
      .get('/auth/sessions')
      .set({
        Authorization: `Bearer ${accessToken}`,
        'User-Agent': 'peculiar agent',
        'X-Forwarded-For': '198.51.100.77',
      })
      .expect(200);
    expect(JSON.stringify(service.logs)).not.toMatch(/peculiar agent|198\.51\.100/);
  });
});

it('DELETE /auth/sessions/:id ends nothing when the id is missing', async () => {
  const { ada, phone } = await onTwoDevices();
  for (const path of ['/auth/sessions/', '/auth/sessions//', '/auth/sessions/?except=current']) {
    await as('delete', path, ada).expect(404);
  }
  expect([await refreshes(ada), await refreshes(phone)]).toEqual([true, true]);
});

describe('DELETE /auth/sessions', () => {
  it('opens another one for the caller with except=current', async () => {
    const { ada, phone } = await onTwoDevices();
    const response = await as('delete', '/auth/sessions?except=current', ada).set('Cookie', ada.cookie).expect(200);
    const opened = tokensOf(response);
    expect(await list(opened)).toMatchObject([{ id: sessionOf(opened), current: true }]);
    expect([await refreshes(ada), await refreshes(phone), await refreshes(opened)]).toEqual([false, false, true]);
  });

  it.each(['', 'Current', 'mine', 'current&except=current'])('ends nothing with except=%s', async (except) => {
    const { ada, phone } = await onTwoDevices();
    const { body } = await as('delete', `/auth/sessions?except=${except}`, ada).expect(400);
    expect(body).toMatchObject({ code: 'CLIENT_PARAMS_VALIDATION_FAILED', details: [{ field: 'except' }] });
    expect([await refreshes(ada), await refreshes(phone)]).toEqual([true, true]);
  });
});
