import type { Response } from 'supertest';
import { describe, expect, it } from 'vitest';
import { cookieAttributes, refreshWith, servicesOverOneDatabase } from '../support/http/auth-http.ts';
import { aPerson, cookiePair } from '../support/http/service.ts';

const { start } = servicesOverOneDatabase();
const cookiesIn = (response: Response): string[] => response.get('Set-Cookie') ?? [];
const namesIn = (response: Response): string[] => cookiesIn(response).map((line) => line.replace(/=.*/s, ''));
const PREFIXED = { JWT_REFRESH_COOKIE_SECURE: 'true', BASE_URL: 'https://auth.example.org/tandem' };

describe.each([
  ['__Host-Http-', '/'],
  ['__Http-', '/tandem/auth'],
])('the cookies of a service with JWT_REFRESH_COOKIE_PREFIX=%s', (prefix, path) => {
  const opened = async () => {
    const service = await start({ ...PREFIXED, JWT_REFRESH_COOKIE_PREFIX: prefix });
    const person = aPerson();
    const response = await service.http.post('/auth/register').send(person).expect(201);
    return { service, person, line: cookiesIn(response)[0] ?? '' };
  };

  it('have the name that browsers keep with these attributes only', async () => {
    const { service, line } = await opened();
    expect(line.replace(/=.*/s, '')).toBe(`${prefix}refresh_token`);
    const attributes = cookieAttributes(line);
    expect(attributes).toMatchObject({ HttpOnly: true, Secure: true, Path: path });
    expect(attributes).not.toHaveProperty('Domain');
    const refreshed = await refreshWith(service, cookiePair(line)).expect(200);
    expect(namesIn(refreshed)).toEqual([`${prefix}refresh_token`]);
    const out = await service.http.get('/auth/clear-cookie').set('Cookie', cookiePair(cookiesIn(refreshed)[0]));
    expect(namesIn(out)).toContain(`${prefix}refresh_token`);
    expect(cookieAttributes(cookiesIn(out)[0])).toMatchObject({ 'Max-Age': '0', Path: path });
    await refreshWith(service, cookiePair(cookiesIn(refreshed)[0])).expect(401);
  });

  it('are not read by another name, which another host or a script can set', async () => {
    const { service, line } = await opened();
    const [, token] = cookiePair(line).split('=');
    const others = ['', '__Host-', '__Http-', '__Host-Http-'].filter((other) => other !== prefix);
    for (const other of others) await refreshWith(service, `${other}refresh_token=${token}`).expect(401);
    await refreshWith(service, `refresh_token=${token}; ${cookiePair(line)}`).expect(200);
  });
});

it('a service without JWT_REFRESH_COOKIE_PREFIX does not read the names with one', async () => {
  const service = await start({});
  const response = await service.http.post('/auth/register').send(aPerson()).expect(201);
  const cookie = cookiePair(cookiesIn(response)[0]);
  await refreshWith(service, `__Host-Http-${cookie}`).expect(401);
  await refreshWith(service, cookie).expect(200);
});
