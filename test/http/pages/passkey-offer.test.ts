import { afterAll, describe, expect, it } from 'vitest';
import { MINUTE } from '../../support/application.ts';
import { authenticator } from '../../support/authenticator.ts';
import { codeAt } from '../../support/authenticator-app.ts';
import { aPasskey } from '../../support/builders.ts';
import { fixedClock } from '../../support/fixed-clock.ts';
import { invitedPerson } from '../../support/http/account.ts';
import { APP_LINK, anApp } from '../../support/http/app-login.ts';
import { servicesOverOneDatabase } from '../../support/http/auth-http.ts';
import { startApp } from '../../support/http/page-factors.ts';
import {
  locationIn,
  ORIGIN,
  pathOfPage,
  registeredVisitor,
  type Visitor,
  visitorOf,
} from '../../support/http/page-visitor.ts';
import { unescaped } from '../../support/http/shown-forms.ts';
import { memoryMailer } from '../../support/mail/memory-mailer.ts';
import { CLIENT, startProvider } from '../../support/oidc/provider.ts';

const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const TO = 'https://app.example.org/notes?a=1';
const OFFER = pathOfPage('new-passkey', TO);
const provider = await startProvider();
afterAll(provider.close);
const env = {
  ...{ ALLOWED_ORIGINS_DEV: 'https://app.example.org', APP_LINKS: APP_LINK, LOGIN_BY_CODE: 'on' },
  ...{ OIDC_PROVIDERS: 'acme', OIDC_ACME_ISSUER: provider.issuer },
  ...{ OIDC_ACME_CLIENT_ID: CLIENT.id, OIDC_ACME_CLIENT_SECRET: CLIENT.secret },
};
const overrides = () => ({ clock, mailer: memoryMailer() });
const service = await start(env, overrides);
const lenient = await start({ ...env, PASSWORDS: 'optional' }, overrides);

/** Somebody who has just added an authenticator app. */
const withApp = async () => {
  const member = await registeredVisitor(service);
  await member.open('/auth/account/factors');
  await member.submit('factors.app', { code: codeAt(await startApp(member), clock.now()) });
  return member;
};
/** Where the script would have the forms of a page lead, by their names. */
const offersOf = async (visitor: Visitor, path: string, account = '') => {
  await visitor.open(path);
  if (account !== '') await visitor.submit('log-in.account', { account });
  if (account !== '') await visitor.follow();
  const { text = '' } = visitor.answers.at(-1) ?? {};
  const forms = [...text.matchAll(/<form\b[^>]* data-form="([^"]*)"[^>]* data-offers="([^"]*)"/g)];
  return Object.fromEntries(forms.map(([, name = '', way = '']) => [name, unescaped(way)]));
};
/** Logs in as the script would have it. */
const loggedIn = async ({ person }: Awaited<ReturnType<typeof registeredVisitor>>, to: string) => {
  const visitor = visitorOf(service);
  await visitor.open('/auth/log-in');
  const answer = await visitor.submit('log-in.log-in', { account: person.username, password: person.password, to });
  return { ...visitor, answer };
};

describe('the offer of a passkey', () => {
  it.each(['log-in', 'register'] as const)(
    'is on the way from %s to a website, an app and the account',
    async (page) => {
      for (const to of [TO, anApp().to, undefined]) {
        const way = pathOfPage('new-passkey', to);
        const [expected, last] = [{ [`${page}.provider`]: way }, { [`${page}.${page}`]: way }];
        const offers = await offersOf(visitorOf(service), pathOfPage(page, to));
        expect(offers).toEqual(page === 'log-in' ? expected : { ...expected, ...last });
        if (page === 'log-in') expect(await offersOf(visitorOf(service), pathOfPage(page, to), 'ada')).toEqual(last);
        expect((await visitorOf(service).open(way)).headers.location).toBe(pathOfPage('log-in', way));
      }
      expect(await offersOf(visitorOf(service), pathOfPage(page, '/auth/account/factors'))).toEqual({});
    },
  );

  it('is on the way from an invitation to the application', async () => {
    const visitor = visitorOf(service);
    const to = pathOfPage('new-passkey', 'https://app.example.org');
    expect(await offersOf(visitor, '/auth/link/invitation')).toEqual({ 'invitation.invitation': to });
    const answer = await visitor.submit('invitation.invitation', { ...(await invitedPerson(service)), to });
    expect(locationIn(answer)).toBe(to);
    expect((await visitor.follow()).text).toContain('data-form="new-passkey.new-passkey"');
  });

  it('comes after the second factor that an invited user has to add first', async () => {
    const strict = await start({ ...env, SECOND_FACTOR: 'required' }, overrides);
    const visitor = visitorOf(strict);
    await visitor.open('/auth/link/invitation');
    const answer = await visitor.submit('invitation.invitation', { ...(await invitedPerson(strict)), to: OFFER });
    expect(locationIn(answer)).toBe(pathOfPage('second-factor', OFFER));
    await visitor.follow();
    const secret = await startApp(visitor, 'second-factor.start-app');
    await visitor.submit('second-factor.second-factor', { code: codeAt(secret, clock.now()) });
    expect(unescaped((await visitor.follow()).text)).toContain(`href="${OFFER}`);
    expect((await visitor.open(OFFER)).text).toContain('data-form="new-passkey.new-passkey"');
  });

  it('is shown once in this browser, unless a registration needs no password', async () => {
    const { answer, ...visitor } = await loggedIn(await registeredVisitor(service), OFFER);
    expect(locationIn(answer)).toBe(OFFER);
    const { text, headers } = await visitor.follow();
    expect(unescaped(text)).toContain(`<a href="${TO}&tandem=logged-in">Not now</a>`);
    expect(`${headers['set-cookie']}`).toMatch(/passkey_offered=yes; Max-Age=2592000; Path=\/auth;.* HttpOnly/);
    expect(await offersOf(visitor, '/auth/log-in')).toEqual({});
    const again = visitorOf(lenient);
    again.jar.set('passkey_offered', 'yes');
    expect(await offersOf(again, '/auth/log-in')).toEqual({});
    expect(await offersOf(again, '/auth/register')).toEqual({ 'register.register': pathOfPage('new-passkey') });
  });

  it('leads on with the code that binds the session to the key of the application', async () => {
    const way = pathOfPage('new-passkey', 'https://app.example.org/?tandem_code=#top');
    const { answer, ...visitor } = await loggedIn(await registeredVisitor(service), way);
    expect(answer.headers.location).toMatch(/tandem_code%3D[\w.-]{50,}%23top&tandem=logged-in$/);
    const key = authenticator({ rpId: 'auth.example.org', origin: ORIGIN });
    await visitor.follow();
    const { options } = visitor.shown('new-passkey.new-passkey')[0] ?? expect.unreachable();
    const made = await visitor.submit('new-passkey.new-passkey', { credential: JSON.stringify(key.create(options)) });
    expect(made.headers.location).toMatch(
      /^https:\/\/app.example.org\/\?tandem_code=[\w.-]{50,}&tandem=logged-in#top$/,
    );
  });

  it('makes no second passkey without a question where the service has refused the first one', async () => {
    const { answer: _, ...visitor } = await loggedIn(await registeredVisitor(service), OFFER);
    expect((await visitor.follow()).text).toContain(' data-silent');
    const credential = authenticator({ rpId: 'auth.example.org', origin: ORIGIN }).create({
      challenge: 'x'.repeat(43),
    });
    await visitor.submit('new-passkey.new-passkey', { credential: JSON.stringify(credential) });
    const { status, text } = await visitor.follow();
    expect([status, text.includes(' data-silent')]).toEqual([401, false]);
    expect(visitor.shown('new-passkey.new-passkey')).toHaveLength(1);
  });

  it('is not for those who have a passkey, or would have to show a second factor first', async () => {
    const member = await withApp();
    expect((await member.open(OFFER)).status).toBe(200);
    clock.advance(6 * MINUTE);
    expect((await member.open(OFFER)).headers.location).toBe(`${TO}&tandem=logged-in`);
    const owner = await registeredVisitor(service);
    await service.ports.records.insert('passkeys', aPasskey({ userId: owner.user.id }));
    expect((await owner.open(OFFER)).headers.location).toBe(`${TO}&tandem=logged-in`);
  });
});

describe('the page of the log-in', () => {
  const USED = 'You used this last time';
  /** The forms or buttons beside which it says so. */
  const usedIn = async (visitor: Visitor) => {
    const { text } = await visitor.open('/auth/log-in');
    return [
      ...text.matchAll(
        /<button\b[^>]* aria-describedby="used"[^>]*>(?:<svg.*?<\/svg>)?([^<]*)<\/button>\s*<small id="used">([^<]*)/g,
      ),
    ].map(([, button, said]) => [unescaped(button ?? ''), said]);
  };

  it.each([
    [
      'Continue',
      async (visitor: Visitor) => {
        const { person } = await registeredVisitor(service);
        await visitor.submit('log-in.log-in', { account: person.username, password: person.password });
      },
    ],
    ['Continue', (visitor: Visitor) => visitor.submit('log-in.code', { account: 'nobody' })],
    ['Continue with Acme', (visitor: Visitor) => visitor.submit('log-in.provider')],
  ])('says what was used last, and of nobody: %s', async (button, use) => {
    const visitor = visitorOf(service);
    expect(await usedIn(visitor)).toEqual([]);
    await use(visitor);
    visitor.jar.delete('refresh_token');
    expect(await usedIn(visitor)).toEqual([[button, USED]]);
    expect(visitor.jar.get('used_last')).toMatch(/^(?:log-in|code|provider\.acme)$/);
  });

  it('says it before a second factor, too, and not after a wrong password', async () => {
    const visitor = visitorOf(service);
    await visitor.open('/auth/log-in');
    await visitor.submit('log-in.log-in', { account: 'nobody', password: 'wrong' });
    expect([await usedIn(visitor), visitor.jar.get('used_last')]).toEqual([[], undefined]);
    const { username: account, password } = (await withApp()).person;
    await visitor.submit('log-in.log-in', { account, password });
    expect(await usedIn(visitor)).toEqual([['Continue', USED]]);
  });
});
