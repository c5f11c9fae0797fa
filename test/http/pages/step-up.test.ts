// Proves ASVS 7.5.1
import { describe, expect, it } from 'vitest';
import { PAGE_FILES } from '../../../src/infrastructure/template-files.ts';
import { MINUTE } from '../../support/application.ts';
import { codeAt, wrongCodeAt } from '../../support/authenticator-app.ts';
import { fixedClock } from '../../support/fixed-clock.ts';
import { mailedCode } from '../../support/http/account.ts';
import { servicesOverOneDatabase } from '../../support/http/auth-http.ts';
import { startApp } from '../../support/http/page-factors.ts';
import { locationIn, pathOfPage, registeredVisitor } from '../../support/http/page-visitor.ts';
import { aPerson } from '../../support/http/service.ts';
import { unescaped } from '../../support/http/shown-forms.ts';
import { memoryMailer } from '../../support/mail/memory-mailer.ts';

const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const service = await start({}, () => ({ clock }));
const { notices } = (await PAGE_FILES.builtIn()).texts.get('en') ?? expect.unreachable();

/** Somebody with an app, who has shown nothing for six minutes. */
const enrolled = async () => {
  const member = await registeredVisitor(service);
  await member.open('/auth/account/factors');
  const secret = await startApp(member);
  await member.submit('factors.app', { code: codeAt(secret, clock.now()) });
  const [recoveryCode = ''] = (await member.follow()).text.match(/\b[0-9A-Z]{4}(?:-[0-9A-Z]{4}){5}\b/) ?? [];
  clock.advance(6 * MINUTE);
  const names = () =>
    [...(member.answers.at(-1)?.text ?? '').matchAll(/data-form="([\w.-]+)"/g)].map(([, name]) => name);
  /** The page to which the last answer leads, after any number of redirects. */
  const arrive = async () => {
    let answer = await member.follow();
    while (answer.status === 303) answer = await member.follow();
    return unescaped(answer.text);
  };
  return { ...member, secret, recoveryCode, names, arrive, code: () => ({ code: codeAt(secret, clock.now()) }) };
};

describe('who has an app and has not shown it lately', () => {
  it.each([
    ['account.email', '/auth/account', () => ({ email: aPerson().email }), 'email'],
    ['account.password', '/auth/account', () => ({ newPassword: 'a longer horse battery' }), 'password'],
    ['delete.delete', '/auth/account/delete', () => ({}), 'deleted'],
  ])('is asked for a code before %s is filled in, and for the password there', async (form, path, fields, notice) => {
    const { person, code, names, arrive, ...member } = await enrolled();
    await member.open(path);
    expect(Object.keys(member.shown(form)[0]?.fields ?? {})).toEqual(['once']);
    expect(locationIn(await member.submit(form))).toBe(pathOfPage('step-up', path));
    expect(await arrive()).not.toContain(notices['not-sent']);
    expect(names()).toEqual(['step-up.code', 'step-up.recovery']);
    await member.submit('step-up.code', code());
    await arrive();
    const { password } = person;
    await member.submit(form, { ...fields(), password, currentPassword: password });
    expect(await arrive()).toContain(notices[notice]);
  });

  it('shows both before a change of the username, without a second press', async () => {
    const { person, code, names, arrive, ...member } = await enrolled();
    await member.open('/auth/account');
    await member.submit('account.username');
    await arrive();
    await member.submit('step-up.code', code());
    await arrive();
    expect(names()).toEqual(['step-up.step-up']);
    await member.submit('step-up.step-up', { password: person.password });
    expect(await arrive()).toMatch(/<details open>\s*<summary><span>[\w.-]+<\/span>/);
    await member.submit('account.username', { username: aPerson().username });
    expect(await arrive()).toContain(notices.saved);
  });

  it('finds what was typed again, but for the password, where the page was open for long', async () => {
    const { person, secret, recoveryCode, names, arrive, ...member } = await enrolled();
    const { email } = aPerson();
    const typed = { email, password: person.password };
    const [recent] = [await member.open('/auth/step-up')];
    expect(recent.status).toBe(200);
    await member.submit('step-up.recovery', { recoveryCode });
    await member.open('/auth/account');
    clock.advance(6 * MINUTE);
    await member.submit('account.email', typed);
    expect(await arrive()).toContain(notices['not-sent']);
    await member.submit('step-up.code', { code: wrongCodeAt(secret, clock.now()) });
    expect((await member.follow()).status).toBe(401);
    await member.submit('step-up.code', { code: codeAt(secret, clock.now()) });
    expect(await arrive()).not.toContain(person.password);
    expect(member.shown('account.email')[0]?.fields).toMatchObject({ email, password: '' });
    await member.submit('account.email', typed);
    expect(await arrive()).toContain(notices.email);
  });

  it('finds what was typed again after a code by mail, also if the first one was wrong', async () => {
    const mailer = memoryMailer();
    const byMail = await start({ LOGIN_BY_CODE: 'on' }, () => ({ clock, mailer }));
    const { person, ...member } = await registeredVisitor(byMail);
    await member.open('/auth/account');
    clock.advance(6 * MINUTE);
    const { username } = aPerson();
    await member.submit('account.username', { username });
    await member.follow();
    await member.submit('step-up.mail-code');
    await member.follow();
    await member.submit('code.again');
    await member.follow();
    const code = await mailedCode(byMail, mailer, person.email);
    for (const typed of [code.replace(/.$/, (digit) => `${(Number(digit) + 1) % 10}`), code]) {
      await member.submit('code.code', { code: typed });
      await member.follow();
    }
    expect(member.shown('account.username')[0]?.fields).toMatchObject({ username });
    await member.submit('account.username');
    expect(unescaped((await member.follow()).text)).toContain(notices.saved);
  });

  it('does not show what was typed to another user, who logs in by a code in the same browser', async () => {
    const mailer = memoryMailer();
    const byMail = await start({ LOGIN_BY_CODE: 'on' }, () => ({ clock, mailer }));
    const { person: other } = await registeredVisitor(byMail);
    const member = await registeredVisitor(byMail);
    await member.open('/auth/account');
    clock.advance(6 * MINUTE);
    await member.submit('account.username', { username: aPerson().username });
    await member.follow();
    await member.submit('step-up.mail-code');
    await member.follow();
    await member.submit('code.again', { account: other.username });
    await member.follow();
    await member.submit('code.code', { code: await mailedCode(byMail, mailer, other.email) });
    expect(unescaped((await member.follow()).text)).toContain(other.email);
    expect(member.shown('account.username')[0]?.fields).toMatchObject({ username: other.username });
  });

  it('goes back to the account from a step-up without the form', async () => {
    const { code, arrive, names, ...member } = await enrolled();
    await member.open('/auth/account');
    await member.submit('account.email');
    await arrive();
    await member.open('/auth/account');
    expect(member.shown('account.email')[0]?.fields).not.toHaveProperty('email');
    await member.open(pathOfPage('step-up', '/auth/account'));
    await member.submit('step-up.code', code());
    await arrive();
    expect(names()).toContain('account.sessions');
  });
});
