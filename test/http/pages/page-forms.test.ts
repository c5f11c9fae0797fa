// Proves network-8

import { describe, expect, it } from 'vitest';
import { PAGES, type PageName } from '../../../src/adapters/http/forms/flow.ts';
import { storageOver } from '../../../src/adapters/records/storage.ts';
import { PAGE_FILES } from '../../../src/infrastructure/template-files.ts';
import { MINUTE } from '../../support/application.ts';
import { codeAt, wrongCodeAt } from '../../support/authenticator-app.ts';
import { fixedClock } from '../../support/fixed-clock.ts';
import { APP_LINK, anApp } from '../../support/http/app-login.ts';
import { servicesOverOneDatabase } from '../../support/http/auth-http.ts';
import { boundVisitor, SHOWN_SECRET, startApp } from '../../support/http/page-factors.ts';
import { locationIn, ORIGIN, pathOfPage, registeredVisitor, visitorOf } from '../../support/http/page-visitor.ts';
import { aPerson, startService } from '../../support/http/service.ts';
import { unescaped } from '../../support/http/shown-forms.ts';
import { failingRecords } from '../../support/records/failing.ts';

const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const service = await start({}, () => ({ clock }));
const { notices, errors, pages } = (await PAGE_FILES.builtIn()).texts.get('en') ?? expect.unreachable();

const memberAt = async (path: string) => {
  const member = await registeredVisitor(service);
  await member.open(path);
  return member;
};

describe('what a form may be', () => {
  it.each([
    ['a field twice', 'account=ada&account=ada&password=x'],
    ['bytes that are no UTF-8', 'account=ada&password=%FF'],
    ['half an escape', 'account=ada&password=%4'],
    ['more fields than any form has', Array.from({ length: 17 }, (_, at) => `a${at}=x`).join('&')],
  ])('is not one with %s', async (_what, form) => {
    const visitor = visitorOf(service);
    expect(locationIn(await visitor.post('/auth/log-in', form))).toBe('/auth/log-in');
    const { status, text } = await visitor.follow();
    expect([status, unescaped(text)]).toEqual([
      400,
      expect.stringContaining(errors.CLIENT_PARAMS_VALIDATION_FAILED ?? ''),
    ]);
  });

  it.each([
    ['of another type', 415, 'multipart/form-data; boundary=x', '--x--'],
    ['in another encoding', 415, 'application/x-www-form-urlencoded; charset=iso-8859-1', 'account=ada&password=x'],
    ['too large', 413, 'application/x-www-form-urlencoded', `account=ada&password=${'x'.repeat(17_000)}`],
  ])('is not one %s', async (_what, status, type, body) => {
    const { http } = service;
    await http.post('/auth/log-in').set({ Origin: ORIGIN, 'Content-Type': type }).send(body).expect(status);
  });

  it('may have texts of any length: the cookie that says what was wrong fits into a browser', async () => {
    const visitor = visitorOf(service);
    const long = '€'.repeat(700);
    await visitor.open('/auth/register');
    await visitor.submit('register.register', { username: long, email: long, password: 'x' });
    expect(`page_state=${visitor.jar.get('page_state')}`.length).toBeLessThan(4_096);
    expect((await visitor.follow()).text.match(/aria-invalid/g)).toHaveLength(3);
  });
});

describe('a form says', () => {
  it.each([
    ['ada!', '“!” cannot be in a username.'],
    ['ada lovelace', 'There are no blanks in a username.'],
    ['01M805M084GXA5E2JTR4FKH6WN', 'This username does not have the form described above.'],
    ['ad', 'A username has at least 3 characters.'],
    ['a'.repeat(33), 'A username has at most 32 characters.'],
  ])('which rule the username %s breaks', async (username, said) => {
    const visitor = visitorOf(service);
    await visitor.open('/auth/register');
    await visitor.submit('register.register', { ...aPerson(), username });
    expect(unescaped((await visitor.follow()).text)).toContain(`>${said}<`);
  });

  it.each([
    ['ada@GMAIL.com', 'https://mail.google.com/'],
    ['ada@hotmail.co.uk', 'https://outlook.live.com/'],
    ['ada@web.de', 'https://web.de/'],
    ['ada@gmail.com.example.org', undefined],
  ])('where the mail to %s can be read', async (email, mailbox) => {
    const visitor = visitorOf(service);
    await visitor.open('/auth/forgot');
    await visitor.submit('forgot.forgot', { email });
    const { text } = await visitor.follow();
    expect(/class="button" href="([^"]*)" target/.exec(text)?.[1]).toBe(mailbox);
    expect(text).toContain('<strong>');
  });
});

it('a page for those who are logged in sends others to the log-in in linear time, whatever its address has', async () => {
  const cost = async (query: string) => {
    const before = process.cpuUsage();
    expect((await visitorOf(service).open(`/auth/account?${query}`)).status).toBe(303);
    return process.cpuUsage(before).user;
  };
  await cost('');
  // Microseconds. In quadratic time, each of these takes several times as long.
  expect(await cost('a&'.repeat(7_000))).toBeLessThan(250_000);
});

describe('a form that the visitor has to send again', () => {
  it('says so after a proof of the device', async () => {
    const { proofFor, ...visitor } = await boundVisitor(service, clock);
    await visitor.follow();
    clock.advance(11 * MINUTE);
    const { username } = aPerson();
    await visitor.submit('account.username', { username });
    expect((await visitor.follow()).text).toContain('data-form="prove.prove"');
    await visitor.submit('prove.prove', { proof: await proofFor('/auth/prove') });
    const { text } = await visitor.follow();
    expect(unescaped(text)).toContain(notices['not-sent']);
    expect(text).not.toContain(username);
  });

  it('says so before a step-up', async () => {
    const member = await memberAt('/auth/account/factors');
    clock.advance(16 * MINUTE);
    await member.submit('factors.start-app');
    expect(unescaped((await member.follow()).text)).toContain(notices['not-sent']);
    await member.submit('step-up.step-up', { password: member.person.password });
    expect((await member.follow()).text).toContain('data-form="factors.start-app"');
  });

  it('says nothing where there is nothing to save', async () => {
    const on = await start({ APP_LINKS: APP_LINK }, () => ({ clock }));
    const member = await registeredVisitor(on);
    expect((await member.open(pathOfPage('app', anApp().to))).status).toBe(200);
    clock.advance(16 * MINUTE);
    expect(locationIn(await member.submit('app.app'))).toContain(PAGES['step-up'].path);
    expect(unescaped((await member.follow()).text)).not.toContain(notices['not-sent']);
  });

  it('does not go round in circles in a browser that keeps no cookies', async () => {
    const { person } = await registeredVisitor(service);
    const visitor = visitorOf(service);
    await visitor.open('/auth/log-in');
    await visitor.submit('log-in.log-in', { account: person.username, password: person.password });
    visitor.jar.clear();
    expect((await visitor.follow()).headers.location).toBe(`${pathOfPage('log-in', '/auth/account')}&tandem=no-cookie`);
    expect(unescaped((await visitor.follow()).text)).toContain(notices['no-cookie']);
  });
});

describe('a second click after the first has ended the session', () => {
  type Member = Awaited<ReturnType<typeof memberAt>>;
  it.each<[string, string, (person: Member['person']) => object, string | undefined]>([
    [
      'account.password',
      '/auth/account',
      ({ password: currentPassword }) => ({ currentPassword, newPassword: 'another long password' }),
      notices.password,
    ],
    ['account.sessions', '/auth/account', () => ({}), notices.ended],
    ['delete.delete', '/auth/account/delete', ({ password }) => ({ password }), notices.deleted],
  ])('says the same, to its browser alone: %s', async (name, path, fieldsFor, notice) => {
    const [member, other] = [await memberAt(path), await memberAt('/auth/log-out')];
    const [ofOther, ofMember] = [new Map(other.jar), new Map(member.jar)];
    await other.submit('log-out.log-out');
    const form = member.shown(name)[0] ?? expect.unreachable();
    const sentWith = async (jar: ReadonlyMap<string, string>) => {
      member.jar.clear();
      for (const [cookie, value] of jar) member.jar.set(cookie, value);
      const { headers } = await member.post(form.path, { ...form.fields, ...fieldsFor(member.person) });
      return [headers.location, headers['set-cookie']];
    };
    const first = await sentWith(ofMember);
    expect(await sentWith(ofMember)).toEqual(first);
    expect(unescaped((await member.follow()).text)).toContain(notice);
    for (const jar of [ofOther, new Map()]) expect((await sentWith(jar))[0]).toBe(pathOfPage('log-in', path));
  });
});

describe('in a browser that keeps no cookies', () => {
  const failed = async (page: PageName, fields: Readonly<Record<string, string>>) => {
    const visitor = visitorOf(service);
    await visitor.open(PAGES[page].path);
    await visitor.submit(`${page}.${page}`, fields);
    visitor.jar.clear();
    const { status, text } = await visitor.follow();
    return [status, unescaped(text).includes(errors['reason-unseen'] ?? '')];
  };

  it.each([
    ['log-in', { account: 'nobody', password: 'wrong password' }],
    ['register', { username: 'x', email: 'x', password: 'x' }],
    ['password-reset', { token: 'x', newPassword: 'x' }],
  ] as const)('says that the form of %s has failed', async (page, fields) => {
    expect(await failed(page, fields)).toEqual([400, true]);
  });

  it('says so of a log-in that needs a second factor', async () => {
    const visitor = visitorOf(service);
    await visitor.open('/auth/second-factor');
    expect(unescaped((await visitor.follow()).text)).toContain(pages['log-in']?.AUTH_SECOND_FACTOR_INVALID);
    await visitor.open('/auth/second-factor');
    visitor.jar.clear();
    expect(unescaped((await visitor.follow()).text)).toContain(errors['reason-unseen']);
  });
});

describe('the settings', () => {
  const APPLICATION = 'http://localhost:5173';

  it.each(['account', 'factors', 'history'] as const)('lead back from %s to where the visitor was', async (page) => {
    const member = await registeredVisitor(await start({ ALLOWED_ORIGINS_DEV: APPLICATION }, () => ({ clock })));
    const backAt = async (to?: string): Promise<string | undefined> => {
      const { text } = await member.open(pathOfPage(page, to));
      return /<a href="([^"]*)">Back to [\w.:]+<\/a>/.exec(text)?.[1];
    };
    expect(unescaped((await backAt(`${APPLICATION}/notes?a=1`)) ?? '')).toBe(
      `${APPLICATION}/notes?a=1&tandem=logged-in`,
    );
    expect(await backAt()).toBe(APPLICATION);
  });

  /** The forms that nobody has to open. */
  const openIn = (text: string) =>
    [...text.matchAll(/<details open>.*?data-form="([\w.-]+)"/gs)].map(([, form]) => form);

  it('say what there is, and show a form that has to be sent again', async () => {
    const member = await registeredVisitor(await start({ PASSWORDS: 'optional', LOGIN_BY_CODE: 'on' }));
    const { text } = await member.open('/auth/account');
    expect(openIn(text)).toEqual([]);
    expect(text).toMatch(new RegExp(`<summary>.*${member.person.email} <small>not confirmed</small>.*Change`));
    await member.submit('account.username', { username: '!' });
    expect(openIn((await member.follow()).text)).toEqual(['account.username']);
    const { email } = aPerson();
    await member.submit('account.confirmation-code', { email });
    expect(openIn((await member.follow()).text)).toEqual(['account.email']);
    expect(member.shown('account.email')[0]?.fields.email).toBe(email);
    await member.submit('account.username', { username: aPerson().username });
    expect(openIn((await member.follow()).text)).toEqual([]);
  });

  it('keep the secret of an app over a wrong code, and offer no second app', async () => {
    const member = await memberAt('/auth/account/factors');
    const secret = await startApp(member);
    await member.submit('factors.app', { code: wrongCodeAt(secret, clock.now()) });
    const again = await member.follow();
    expect(SHOWN_SECRET.exec(again.text)?.[1]?.replaceAll(' ', '')).toBe(secret);
    expect(again.text).toContain('<svg');
    await member.submit('factors.app', { code: codeAt(secret, clock.now()) });
    expect((await member.follow()).text.match(/<li><code>/g)).toHaveLength(10);
    const { text } = await member.open('/auth/account/factors');
    expect(text).not.toContain('factors.start-app');
    expect(text).toContain('10');
    await member.open('/auth/log-out');
    await member.submit('log-out.log-out');
    await member.open('/auth/log-in');
    await member.submit('log-in.log-in', { account: member.person.username, password: member.person.password });
    const second = await member.follow();
    expect(second.text.match(/name="remember"/g)).toHaveLength(1);
    expect(second.text).toMatch(/<details>\s*<summary>.*data-form="second-factor\.recovery"/s);
  });

  it('offer the languages of mails, and end other sessions than their own', async () => {
    const member = await memberAt('/auth/account');
    const other = visitorOf(service);
    await other.open('/auth/log-in');
    await other.submit('log-in.log-in', { account: member.person.username, password: member.person.password });
    const { text } = await member.open('/auth/account');
    expect(text.match(/<option value="\w+"/g)).toEqual(expect.arrayContaining(['<option value="de"']));
    expect(member.shown('account.session')).toHaveLength(1);
  });

  it.each(['en-u-ca-gregory', '!!'])('are there for a language without a name: %s', async (locale) => {
    const member = await memberAt('/auth/account');
    const isTag = locale !== '!!';
    await member.submit('account.language', { locale });
    expect((await member.follow()).status).toBe(isTag ? 200 : 400);
    expect((await service.ports.users.findById(member.user.id))?.locale === locale).toBe(isTag);
  });
});

describe('the log-in', () => {
  it('asks for the password in the same words whatever account was named, without a statement', async () => {
    const database = failingRecords();
    const asked = await startService({}, { storage: storageOver(database.records), clock });
    const { person } = await registeredVisitor(asked);
    database.fail({ at: 1, how: 'refused' });
    const pages = new Set<string>();
    for (const account of [person.username, person.email, 'nobody']) {
      const visitor = visitorOf(asked);
      await visitor.open(pathOfPage('log-in', '/auth/account'));
      const { headers } = await visitor.submit('log-in.account', { account });
      expect(headers.location).toBe(`${pathOfPage('log-in', '/auth/account')}&next=password`);
      const { text } = await visitor.follow();
      expect(visitor.shown('log-in.log-in')[0]?.fields).toMatchObject({ account, password: '' });
      pages.add(
        unescaped(text)
          .replaceAll(account, '…')
          .replaceAll(/name="once" value="[^"]*"/g, ''),
      );
    }
    expect([pages.size, database.hasFailed()]).toEqual([1, false]);
  });

  it('keeps the account over reloads, Back and Forward, and marks one that nobody has', async () => {
    const visitor = visitorOf(service);
    await visitor.open('/auth/log-in');
    await visitor.submit('log-in.account', { account: 'ada' });
    for (let load = 0; load < 2; load += 1) {
      await visitor.open('/auth/log-in?next=password');
      expect(visitor.shown('log-in.log-in')[0]?.fields.account).toBe('ada');
    }
    for (let load = 0; load < 2; load += 1) {
      await visitor.open('/auth/log-in');
      expect(visitor.shown('log-in.log-in')).toEqual([]);
      expect(visitor.shown('log-in.account')[0]?.fields.account).toBe('ada');
    }
    await visitor.open('/auth/log-in?next=password');
    expect(visitor.shown('log-in.log-in')[0]?.fields.account).toBe('ada');
    await visitor.open('/auth/log-in');
    expect(locationIn(await visitor.submit('log-in.account', { account: 'x'.repeat(300) }))).toBe('/auth/log-in');
    expect((await visitor.follow()).text).toMatch(/<input [^>]*name="account"[^>]* aria-invalid="true"/);
  });

  it('asks for both where the account is not known any more, and says nothing of cookies', async () => {
    const visitor = visitorOf(service);
    const { person } = await registeredVisitor(service);
    const { text } = await visitor.open('/auth/log-in?next=password');
    expect([visitor.shown('log-in.account'), visitor.shown('log-in.passkey')]).toEqual([[], [expect.anything()]]);
    expect(text).toMatch(/<input [^>]*name="account"[^>]* autofocus/);
    expect(unescaped(text)).not.toContain(notices['no-cookie']);
    const { headers } = await visitor.submit('log-in.log-in', { account: person.username, password: person.password });
    expect(headers.location).toBe('/auth/account?tandem=logged-in');
  });
});

it('the export is a file for the visitor alone, and is counted with that of the API', async () => {
  const member = await memberAt('/auth/account');
  const { status, headers, body } = await member.open('/auth/account/export?utm_source=mail');
  expect([status, headers['content-disposition'], headers['cache-control']]).toEqual([
    200,
    'attachment; filename="account.json"',
    'no-store',
  ]);
  expect(body.user.username).toBe(member.person.username);
  const statuses = await Promise.all(
    Array.from({ length: 5 }, async () => (await member.open('/auth/account/export')).status),
  );
  expect(statuses.filter((each) => each === 429)).toHaveLength(1);
  const nobody = await visitorOf(service).open('/auth/account/export');
  expect(nobody.headers.location).toBe(pathOfPage('log-in', '/auth/account'));
});

it('links to no page that is not there: without mail, nobody can ask for a new password', async () => {
  const { http } = await start({}, () => ({ mailer: null }));
  const { text } = await http.get('/auth/log-in').expect(200);
  const links = [...text.matchAll(/ href="(\/[^"]*)"/g)].map(([, path = '']) => path);
  expect(links).toContain('/auth/register');
  for (const path of links) await http.get(path).expect(200);
});

it('has no form whose route is not there: without mail and FACTOR_KEYS, no address changes, and no app is added', async () => {
  const changing = ['account.username', 'account.email', 'factors.passkey', 'factors.start-app'];
  const formsWith = async (ports: Parameters<typeof startService>[1]) => {
    const member = await registeredVisitor(await startService({}, ports));
    const pages = [await member.open('/auth/account'), await member.open('/auth/account/factors')];
    return changing.filter((name) => pages.some(({ text }) => text.includes(` data-form="${name}"`)));
  };
  expect(await formsWith({})).toEqual(changing);
  const bare = await formsWith({ mailer: null, secrets: { factors: null } });
  expect(bare).toEqual(['account.username', 'factors.passkey']);
});
