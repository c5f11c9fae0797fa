import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { describe, expect, it, vi } from 'vitest';
import type { Hooks, RegistrationRequest } from '../../src/application/ports/hooks.ts';
import type { AccountEvent } from '../../src/domain/event.ts';
import { PAGE_FILES } from '../../src/infrastructure/template-files.ts';
import { codeBelow } from '../support/checkout/documented-code.ts';
import { invitedPerson } from '../support/http/account.ts';
import { servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { locationIn, visitorOf } from '../support/http/page-visitor.ts';
import { aPerson } from '../support/http/service.ts';
import { unescaped } from '../support/http/shown-forms.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const { start } = servicesOverOneDatabase();

const startWith = (hooks: Hooks, env = {}) => start(env, () => ({ hooks }));

const MODES = [
  ['with a session at once', {}, 201],
  ['with a second factor to add', { SECOND_FACTOR: 'required' }, 202],
  ['with an address to verify', { EMAIL_VERIFICATION: 'required' }, 202],
] as const;

describe('beforeRegister', () => {
  it.each(MODES)('decides about a registration %s, and gets no secret', async (_what, env, status) => {
    const asked: RegistrationRequest[] = [];
    const decisions = ['allow', 'refuse'] as const;
    const service = await startWith(
      { beforeRegister: (registration) => ({ decision: decisions[asked.push(registration) - 1] ?? 'refuse' }) },
      env,
    );
    const [first, second] = [aPerson(), aPerson()];
    const register = (body: object) => service.http.post('/auth/register').set('User-Agent', 'Browser').send(body);
    await register({ ...first, email: first.email.toUpperCase(), locale: 'de', extra: { captcha: 'abc' } }).expect(
      status,
    );
    await register(second).expect(403);
    expect(asked).toEqual([
      {
        ...{ username: first.username, email: first.email, locale: 'de', extra: { captcha: 'abc' } },
        ...{ address: '127.0.0.0/24', userAgent: 'Browser', invited: false },
      },
      expect.objectContaining({ username: second.username, locale: null, extra: {} }),
    ]);
    expect(await service.ports.users.findByEmail(first.email)).toMatchObject({ username: first.username });
    expect(await service.ports.users.findByEmail(second.email)).toBeNull();
  });

  it('states attributes, which are in the first access token', async () => {
    const service = await startWith({ beforeRegister: () => ({ decision: 'allow', attributes: { plan: 'trial' } }) });
    const { accessToken, user } = await signUp(service);
    expect(decodeJwt(accessToken)).toMatchObject({ attributes: { plan: 'trial' } });
    expect(await service.ports.users.findById(user.id)).toMatchObject({ attributes: { plan: 'trial' } });
  });

  it('is asked alike about an address with an account, and its refusal has its message', async () => {
    let asked = 0;
    const service = await startWith({
      beforeRegister: () => {
        asked += 1;
        return asked === 1 ? { decision: 'allow' } : { decision: 'refuse', message: 'Only by invitation.' };
      },
    });
    const { person } = await signUp(service);
    for (const body of [person, aPerson()]) {
      const { status, body: answer } = await service.http.post('/auth/register').send(body);
      expect([status, answer.code, answer.message]).toEqual([403, 'AUTH_REGISTRATION_REFUSED', 'Only by invitation.']);
    }
    expect(asked).toBe(3);
  });

  it('is not asked about what is refused anyway', async () => {
    const beforeRegister = vi.fn(() => ({ decision: 'allow' }) as const);
    const service = await startWith({ beforeRegister });
    const long = 'x'.repeat(4_097);
    for (const wrong of [{ password: 'short' }, { email: 'x' }, { extra: { a: long } }, { extra: { 'a b': '' } }])
      await service.http
        .post('/auth/register')
        .send({ ...aPerson(), ...wrong })
        .expect(400);
    expect(beforeRegister).not.toHaveBeenCalled();
  });

  it('is no way to have a long text in an answer and in the log', async () => {
    const service = await startWith({});
    const many = Object.fromEntries(Array.from({ length: 1_500 }, (_, at) => [`!${at}`, 1]));
    for (const extra of [{ ['x'.repeat(5_000)]: '' }, many]) {
      const response = await service.http.post('/auth/register').send({ ...aPerson(), extra });
      expect(response.status).toBe(400);
      expect(response.text.length).toBeLessThan(10_000);
    }
    expect(JSON.stringify(service.logs)).not.toMatch(/x{100}/);
  });

  it('that fails closes the door for some seconds, and its error is logged without its message', async () => {
    const service = await startWith({ beforeRegister: () => Promise.reject(new Error('token of the CRM: s3cr3t')) });
    const response = await service.http.post('/auth/register').send(aPerson());
    expect([response.status, response.body.code]).toEqual([503, 'SYS_HOOK_UNAVAILABLE']);
    expect(response.get('Retry-After')).toBe('5');
    expect(JSON.stringify([service.logs, response.body])).not.toContain('s3cr3t');
    expect(service.logs).toContainEqual(expect.objectContaining({ level: 'error', code: 'SYS_HOOK_UNAVAILABLE' }));
  });
});

it('HOOK_BEFORE_REGISTER is refused at the start beside a function', async () => {
  const env = { HOOK_BEFORE_REGISTER: 'https://hooks.example.com/' };
  await expect(startWith({ beforeRegister: () => ({ decision: 'allow' }) }, env)).rejects.toThrow(
    /^HOOK_BEFORE_REGISTER: must not be set beside hooks\.beforeRegister/,
  );
});

it('a misspelt hook is refused at the start, since it would let everybody in', async () => {
  for (const [hooks, problem] of [
    [
      { beforeregister: () => ({ decision: 'refuse' }) },
      'hooks: beforeregister is none of beforeRegister, claims, afterCommit',
    ],
    [{ claims: { role: 'admin' } }, 'hooks: claims has to be a function'],
  ] as const)
    await expect(startWith(hooks as never)).rejects.toThrow(problem);
});

describe('beforeRegister at the page', () => {
  const [withField = ''] = codeBelow('docs/extend.md', 'At the page of registration', 'html');

  it('gets the fields of a template, and its message is shown as text with what was typed', async () => {
    const directory = temporaryDirectory();
    const builtIn = (await PAGE_FILES.files()).get('register.html') ?? '';
    writeFileSync(
      join(directory.path, 'register.html'),
      builtIn.replace('{{form.register}}', () => withField),
    );
    const asked: RegistrationRequest['extra'][] = [];
    const service = await startWith(
      {
        beforeRegister: ({ extra }) => {
          asked.push(extra);
          return extra.company === 'ours'
            ? { decision: 'allow' }
            : { decision: 'refuse', message: 'No <b>"company"</b>.' };
        },
      },
      { PAGE_TEMPLATES: directory.path, ACCOUNT_PAGES: 'on' },
    );
    const visitor = visitorOf(service);
    const form = /<form[^>]* id="register"/;
    expect((await visitor.open('/auth/register')).text).toMatch(form);
    expect(visitor.answers.at(-1)?.text).toContain(withField.split('{{')[0]);
    const person = aPerson();
    await visitor.submit('register.register', { ...person, 'extra.company': 'theirs', 'extra.empty': '' });
    const page = await visitor.follow();
    expect(page.status).toBe(403);
    const [, said = ''] = /<p role="alert"[^>]*>([^<]*)<\/p>/.exec(page.text) ?? [];
    expect(unescaped(said)).toBe('These details are not accepted here. No <b>"company"</b>.');
    expect(visitor.shown('register.register')[0]?.fields).toMatchObject({ email: person.email });
    await visitor.submit('register.register', { ...person, 'extra.company': 'ours' });
    expect(locationIn(visitor.answers.at(-1) ?? expect.unreachable())).toBe('/auth/account');
    expect(asked).toEqual([{ company: 'theirs' }, { company: 'ours' }]);
  });

  it('of an invitation says what it has to say itself, and not that the invitation is at fault', async () => {
    const service = await startWith({ beforeRegister: () => ({ decision: 'refuse', message: 'Not today.' }) });
    const visitor = visitorOf(service);
    await visitor.open('/auth/link/invitation');
    await visitor.submit('invitation.invitation', await invitedPerson(service));
    expect((await visitor.follow()).text).toContain('>These details are not accepted here. Not today.<');
  });
});

describe('claims', () => {
  it('are not asked about a visitor of a page', async () => {
    const claims = vi.fn(() => ({}));
    const service = await startWith({ claims }, { ACCOUNT_PAGES: 'on' });
    const { cookie } = await signUp(service);
    await service.http.get('/auth/account').set('Cookie', cookie).expect(200);
    expect(claims).toHaveBeenCalledTimes(1);
  });
});

describe('afterCommit', () => {
  it('gets each event once, in order, and what it throws or how long it takes concerns no response', async () => {
    const events: AccountEvent[] = [];
    const later = Promise.withResolvers<void>();
    const service = await startWith({
      afterCommit: async (event) => {
        events.push(event);
        if (events.length === 1) throw new Error('s3cr3t');
        await later.promise;
      },
    });
    const { person, user } = await signUp(service);
    await service.http.post('/auth/login').send({ account: person.username, password: person.password }).expect(200);
    later.resolve();
    await vi.waitFor(() => expect(events).toHaveLength(2));
    expect(events.map(({ kind, userId }) => [kind, userId])).toEqual([
      ['registered', user.id],
      ['logged-in', user.id],
    ]);
    expect(JSON.stringify(events)).not.toContain(person.password);
    expect(JSON.stringify(service.logs)).not.toContain('s3cr3t');
    expect(service.logs).toContainEqual(
      expect.objectContaining({ msg: 'the hook afterCommit has failed', kind: 'registered' }),
    );
  });
});
