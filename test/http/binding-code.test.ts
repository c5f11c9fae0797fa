import { describe, expect, it } from 'vitest';
import { MARK } from '../../src/adapters/http/forms/locations.ts';
import { MINUTE } from '../support/application.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { eventsOf } from '../support/http/account.ts';
import { servicesOverOneDatabase } from '../support/http/auth-http.ts';
import { ORIGIN, pathOfPage, visitorOf } from '../support/http/page-visitor.ts';
import { aPerson } from '../support/http/service.ts';
import { unescaped } from '../support/http/shown-forms.ts';
import { joseDeviceKey } from '../support/jose-proofs.ts';

const APP = 'https://app.example.org';
/** As the client asks for a code. */
const TO = `${APP}/notes?tab=1&tandem_code=`;
const REFRESH = '/auth/refresh-token';
const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2030, 0, 1));
const service = await start({ ALLOWED_ORIGINS_DEV: APP }, () => ({ clock }));

const codeIn = (location: string | undefined): string | undefined =>
  /^https:\/\/app\.example\.org\/notes\?tab=1&tandem_code=([\w.-]*)&tandem=logged-in$/.exec(location ?? '')?.[1];

/** Somebody who has registered at the pages, for an application that has asked for a code. */
const registered = async (to = TO, proof?: string) => {
  const [visitor, person] = [visitorOf(service), aPerson()];
  await visitor.open(pathOfPage('register', to));
  const { headers } = await visitor.submit('register.register', { ...person, ...(proof !== undefined && { proof }) });
  const user = (await service.ports.users.findByUsername(person.username)) ?? expect.unreachable();
  return { ...visitor, person, user, location: headers.location, code: codeIn(headers.location) ?? '' };
};
type Member = Awaited<ReturnType<typeof registered>>;

const proofOf = async (path = REFRESH, key = joseDeviceKey()) =>
  (await key).proof({ htu: ORIGIN + path, now: clock.now() });
/** A refresh of the application. */
const refresh = async ({ jar }: Pick<Member, 'jar'>, body: object) => {
  const answer = await service.http
    .post(REFRESH)
    .set('Cookie', `refresh_token=${jar.get('refresh_token')}`)
    .send(body);
  const [, token] = /^refresh_token=([^;]+)/.exec(answer.get('Set-Cookie')?.[0] ?? '') ?? [];
  if (token !== undefined) jar.set('refresh_token', token);
  return answer;
};
const keysOf = async ({ user }: Member) =>
  (await service.ports.sessions.listByUser(user.id, clock.now())).map(({ deviceKey }) => deviceKey);

describe('the code that a log-in at the pages hands to an application', () => {
  it('binds the session to the key of the application; from then on, a copy of the cookie is worthless', async () => {
    const member = await registered();
    const key = joseDeviceKey();
    const { thumbprint } = await key;
    // Spent on the offer of a passkey.
    clock.advance(4 * MINUTE);
    const bound = await refresh(member, { proof: await proofOf(REFRESH, key), bindingCode: member.code });
    expect([bound.status, bound.body.context.deviceKey]).toEqual([200, true]);
    expect(await keysOf(member)).toEqual([thumbprint]);
    for (const body of [{}, { proof: await proofOf() }, { proof: await proofOf(), bindingCode: member.code }])
      expect((await refresh(member, body)).body.code).toBe('AUTH_DEVICE_UNPROVEN');
    expect((await refresh(member, { proof: await proofOf(REFRESH, key) })).body.context.deviceKey).toBe(true);
    expect(await keysOf(member)).toEqual([thumbprint]);
  });

  it.each<[string, (member: Member) => Promise<object>]>([
    ['that is missing', async () => ({ proof: await proofOf() })],
    ['without a proof', async ({ code }) => ({ bindingCode: code })],
    ['of another session', async () => ({ proof: await proofOf(), bindingCode: (await registered()).code })],
    ['that was changed', async ({ code }) => ({ proof: await proofOf(), bindingCode: `${code.slice(0, -1)}_` })],
    ['for another use', async ({ jar }) => ({ proof: await proofOf(), bindingCode: jar.get('page_visitor') ?? 'x' })],
    [
      'that is five minutes old',
      async ({ code }) => {
        clock.advance(5 * MINUTE);
        return { proof: await proofOf(), bindingCode: code };
      },
    ],
  ])('binds nothing with a code %s', async (_, bodyFor) => {
    const member = await registered();
    const answer = await refresh(member, await bodyFor(member));
    expect([answer.status, answer.body.context.deviceKey]).toEqual([200, undefined]);
    expect(await keysOf(member)).toEqual([null]);
  });

  it('is not for those who have the cookie alone: neither the log-in page nor the form of a proof gives it', async () => {
    const { jar, person } = await registered();
    const thief = visitorOf(service);
    thief.jar.set('refresh_token', jar.get('refresh_token') ?? '');
    expect(codeIn((await thief.open(pathOfPage('log-in', TO))).headers.location)).toBe('');
    expect(codeIn((await thief.post('/auth/prove', { to: TO })).headers.location)).toBe('');
    const owner = visitorOf(service);
    await owner.open(pathOfPage('log-in', TO));
    const { headers } = await owner.submit('log-in.log-in', { account: person.username, password: person.password });
    expect(codeIn(headers.location)).toMatch(/^\w{26}\.\w{26}\./);
  });

  it.each([
    [`${APP}/notes?tandem_code=&a=1`, `${APP}/notes?tandem_code=&a=1&tandem=logged-in`],
    [`${APP}/notes`, `${APP}/notes?tandem=logged-in`],
  ])('is only where the client has asked for it: %s', async (to, expected) => {
    expect((await registered(to)).location).toBe(expected);
  });
});

describe('the page that proves a key', () => {
  /** Where its script goes on in a browser whose pages have no key. */
  const elsewhere = (text: string) => JSON.parse(unescaped(/data-elsewhere="([^"]*)"/.exec(text)?.[1] ?? '""'));
  const LOG_IN = '/auth/log-in?to=%2Fauth%2Faccount';

  it('knows the application that may have it, without an entry in the history', async () => {
    const member = await registered(TO, await proofOf('/auth/register'));
    member.jar.delete('page_visitor');
    const at = `${APP}/notes?tab=1`;
    const lacking = await member.open(pathOfPage('account', at));
    expect(lacking.headers.location).toBe(
      `${pathOfPage('prove', pathOfPage('account', at))}&next=${encodeURIComponent(at)}`,
    );
    const { text } = await member.follow();
    expect(elsewhere(text)).toEqual([
      `${at}&${MARK}=%2Fauth%2Faccount`,
      pathOfPage('log-in', pathOfPage('account', at)),
    ]);
    const posted = await member.post('/auth/account/username', { username: 'somebody', to: at });
    expect(posted.headers.location).toBe(lacking.headers.location);
    await member.open(pathOfPage('account'));
    expect(elsewhere((await member.follow()).text)).toEqual([LOG_IN]);
    expect((await eventsOf(service, member.user.id)).map(({ kind }) => kind)).toEqual(['registered']);
  });

  it.each(['https://evil.example/', '/auth/account', 'javascript:alert(1)'])(
    'leads to no other place: %s',
    async (next) => {
      const { status, text, headers } = await visitorOf(service).open(
        `${pathOfPage('prove', '/auth/account')}&next=${encodeURIComponent(next)}`,
      );
      expect([status, headers.location ?? '', text.includes('evil')]).toEqual([expect.any(Number), '', false]);
      expect(text).not.toMatch(/data-elsewhere="[^"]*(?:evil|javascript)/);
    },
  );
});
