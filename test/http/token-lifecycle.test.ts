// Proves SPEC 8.1, 8.4, 8.6, 8.7, 8.12, 8.13, 8.14; ASVS 7.3.1
import type { Response } from 'supertest';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DAY, MINUTE, SECOND } from '../support/application.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { heldFrom, refreshWith, servicesOverOneDatabase, signUp, tampered } from '../support/http/auth-http.ts';
import type { TestService } from '../support/http/service.ts';

const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
let service: TestService;
let ada: Awaited<ReturnType<typeof signUp>>;
beforeAll(async () => {
  service = await start({}, () => ({ clock }));
});
beforeEach(async () => {
  ada = await signUp(service);
});

const logIn = async () => {
  const { email: account, password } = ada.person;
  return heldFrom(await service.http.post('/auth/login').send({ account, password }).expect(200));
};
const refresh = async (cookie: string) => heldFrom(await refreshWith(service, cookie).expect(200));

const outcomeOf = ({ status, body }: Response): string => (body.success ? `${status}` : `${status} ${body.code}`);
/** The outcome of a request with an access token. */
const use = async (token: string) =>
  outcomeOf(await service.http.get('/users/me').set('Authorization', `Bearer ${token}`));
/** The outcome of a refresh with a refresh token. */
const useToRefresh = async (cookie: string) => outcomeOf(await refreshWith(service, cookie));

describe('an access token', () => {
  it('is valid after register, log-in and refresh', async () => {
    const { accessToken, cookie } = await logIn();
    const tokens = [ada.accessToken, accessToken, (await refresh(cookie)).accessToken];
    for (const token of tokens) expect(await use(token)).toBe('200');
    expect(new Set(tokens).size).toBe(3);
  });

  it('stays valid after each use until it expires, and then stays invalid', async () => {
    for (let minute = 0; minute < 15; minute += 1) {
      expect(await use(ada.accessToken)).toBe('200');
      clock.advance(MINUTE);
    }
    for (let times = 0; times < 2; times += 1) {
      expect(await use(ada.accessToken)).toBe('401 AUTH_TOKEN_INVALID');
      clock.advance(DAY);
    }
  });

  it('that fails verification fails again, and does not affect the valid one', async () => {
    for (let times = 0; times < 2; times += 1) {
      expect(await use(tampered(ada.accessToken))).toBe('401 AUTH_TOKEN_INVALID');
    }
    expect(await use(ada.accessToken)).toBe('200');
  });

  it('that has expired is replaced by a refresh or a log-in', async () => {
    clock.advance(15 * MINUTE);
    expect(await use(ada.accessToken)).toBe('401 AUTH_TOKEN_INVALID');
    expect(await use((await refresh(ada.cookie)).accessToken)).toBe('200');
    expect(await use((await logIn()).accessToken)).toBe('200');
  });
});

describe('a refresh token', () => {
  it('is valid after register, log-in and refresh', async () => {
    const { cookie } = await logIn();
    const next = await refresh(cookie);
    for (const held of [ada.cookie, next.cookie]) expect(await useToRefresh(held)).toBe('200');
  });

  it('that fails verification fails again, and does not affect the valid one', async () => {
    for (let times = 0; times < 2; times += 1) expect(await useToRefresh(tampered(ada.cookie))).toBe('401 AUTH_FAILED');
    expect(await useToRefresh(ada.cookie)).toBe('200');
  });

  it('that was rotated stays refused, however often and however late it is sent', async () => {
    await refresh(ada.cookie);
    for (const pause of [0, 0, SECOND, MINUTE, DAY, 7 * DAY]) {
      clock.advance(pause);
      expect(await useToRefresh(ada.cookie)).toBe('401 AUTH_FAILED');
    }
  });

  it('that has expired stays refused, and is replaced by a log-in', async () => {
    clock.advance(7 * DAY);
    for (let times = 0; times < 2; times += 1) expect(await useToRefresh(ada.cookie)).toBe('401 AUTH_FAILED');
    expect(await useToRefresh((await logIn()).cookie)).toBe('200');
  });
});
