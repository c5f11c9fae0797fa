// Proves website-9
import { describe, expect, it } from 'vitest';
import TEXTS from '../../../src/adapters/http/pages/templates/en.json' with { type: 'json' };
import { MINUTE, SECOND } from '../../support/application.ts';
import { codeAt } from '../../support/authenticator-app.ts';
import { fixedClock } from '../../support/fixed-clock.ts';
import { eventsOf } from '../../support/http/account.ts';
import {
  cookieAttributes,
  refreshWith,
  servicesOverOneDatabase,
  tokenIn,
  tokensOf,
} from '../../support/http/auth-http.ts';
import { boundVisitor, SHOWN_SECRET } from '../../support/http/page-factors.ts';
import { pathOfPage, registeredVisitor, type Visitor, visitorOf } from '../../support/http/page-visitor.ts';
import { aPerson } from '../../support/http/service.ts';

const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const service = await start({}, () => ({ clock }));

const WRONG = 'role="alert"';
const FOR_PATHS = { Path: '/auth', HttpOnly: true, SameSite: 'Lax' };
const attributesOf = ({ answers }: Pick<Visitor, 'answers'>, name: string) => {
  const { Expires, ...attributes } = cookieAttributes(
    answers
      .at(-1)
      ?.get('Set-Cookie')
      ?.find((line) => line.startsWith(`${name}=`)),
  );
  return attributes;
};

const signed = (purpose: 'page-visitor') =>
  service.ports.secrets.sign({ purpose, userId: 'a', sessionId: 'b', value: '', expiresAt: clock.now() + MINUTE });

/** Somebody whose log-in has failed, with what that says in a cookie. */
const refusedVisitor = async () => {
  const visitor = visitorOf(service);
  await visitor.open('/auth/log-in');
  await visitor.submit('log-in.log-in', { account: 'nobody', password: 'wrong' });
  return { ...visitor, state: visitor.jar.get('page_state') ?? expect.unreachable() };
};

describe('what a form hands to the next page', () => {
  it('is in a cookie for the paths of the service, for a minute, which no script reads', async () => {
    const { state, ...visitor } = await refusedVisitor();
    expect(attributesOf(visitor, 'page_state')).toEqual({ ...FOR_PATHS, 'Max-Age': '60' });
    expect(Buffer.from(state, 'base64url').toString('latin1')).not.toContain('nobody');
  });

  it.each(['log-in.log-in', 'register.register'])(
    'is gone after a success of %s, such as the account that was named',
    async (form) => {
      const { person } = await registeredVisitor(service);
      const visitor = await refusedVisitor();
      await visitor.open(form.startsWith('log-in') ? '/auth/log-in?next=password' : '/auth/register');
      expect(visitor.jar.get('page_state')).toMatch(/./);
      const fields = form.startsWith('log-in') ? { account: person.username, password: person.password } : aPerson();
      await visitor.submit(form, fields);
      expect(visitor.jar.get('page_state')).toBeUndefined();
    },
  );

  const changedAt = (text: string, at: number) =>
    text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
  const FORGED: readonly (readonly [string, (state: string) => string])[] = [
    ['changed', (state) => changedAt(state, state.length - 2)],
    ['plain', () => encodeURIComponent(JSON.stringify({ page: 'log-in', notice: 'saved' }))],
    ['too large', (state) => state + 'A'.repeat(6_000)],
    ['of a proof', () => signed('page-visitor')],
  ];
  it.each(FORGED)('is nothing when it is %s', async (_, forged) => {
    const { state, jar, open } = await refusedVisitor();
    jar.set('page_state', forged(state));
    const { status, text } = await open('/auth/log-in');
    expect([status, text.includes(WRONG)]).toEqual([200, false]);
  });

  it('is forgotten after a minute, is for one page, and is shown once', async () => {
    const early = await refusedVisitor();
    clock.advance(MINUTE);
    expect((await early.open('/auth/log-in')).text).not.toContain(WRONG);
    const visitor = await refusedVisitor();
    expect((await visitor.open('/auth/forgot')).text).not.toContain(WRONG);
    expect((await visitor.open('/auth/log-in')).text).toContain(WRONG);
    expect((await visitor.open('/auth/log-in')).text).not.toContain(WRONG);
  });

  it('is found beside another one, which another host of the domain has set', async () => {
    const { state, open } = await refusedVisitor();
    const page = await open('/auth/log-in', { Cookie: `page_state=x; page_state=${state}` });
    expect([page.status, page.text.includes(WRONG)]).toEqual([401, true]);
  });
});

describe('a secret that a form hands to the next page', () => {
  const started = async () => {
    const member = await registeredVisitor(service);
    await member.open('/auth/account/factors');
    await member.submit('factors.start-app');
    return member;
  };
  /** Whether another visitor, and then the one whose it is, see it. */
  const seenBy = async (owner: Awaited<ReturnType<typeof started>>, path: string, secret: RegExp) => {
    const other = await registeredVisitor(service);
    other.jar.set('page_state', owner.jar.get('page_state') ?? expect.unreachable());
    return [secret.test((await other.open(path)).text), secret.test((await owner.open(path)).text)];
  };

  it('is not shown to the session of another visitor, whose cookie somebody has replaced', async () => {
    const path = '/auth/account/factors';
    expect(await seenBy(await started(), path, SHOWN_SECRET)).toEqual([false, true]);
    const member = await started();
    const [, shown = ''] = SHOWN_SECRET.exec((await member.follow()).text) ?? [];
    await member.submit('factors.app', { code: 'wrong!' });
    expect(await seenBy(member, path, SHOWN_SECRET)).toEqual([false, true]);
    await member.submit('factors.app', { code: codeAt(shown.replaceAll(' ', ''), clock.now()) });
    expect(await seenBy(member, '/auth/recovery-codes', /<li><code>/)).toEqual([false, true]);
  });
});

describe('a session with the key of a device', () => {
  const bound = async () => {
    const visitor = await boundVisitor(service, clock);
    return { ...visitor, proven: visitor.jar.get('page_visitor') ?? expect.unreachable() };
  };
  const PROVE = pathOfPage('prove', '/auth/account');
  const leadsTo = async ({ open }: Pick<Awaited<ReturnType<typeof bound>>, 'open'>) => {
    const { status, headers } = await open('/auth/account');
    return headers.location ?? status;
  };

  it('has its pages for ten minutes after a proof', async () => {
    const visitor = await bound();
    expect(attributesOf(visitor, 'page_visitor')).toEqual({ ...FOR_PATHS, 'Max-Age': '600' });
    clock.advance(10 * MINUTE - 1);
    expect(await leadsTo(visitor)).toBe(200);
    clock.advance(1);
    expect(await leadsTo(visitor)).toBe(PROVE);
    await visitor.follow();
    await visitor.submit('prove.prove', { proof: await visitor.proofFor('/auth/prove') });
    expect(await leadsTo(visitor)).toBe(200);
  });

  it('has them no longer for a form that proves nothing', async () => {
    const visitor = await bound();
    clock.advance(9 * MINUTE);
    await visitor.open('/auth/step-up');
    // An empty field is none.
    await visitor.submit('step-up.step-up', { password: visitor.person.password, proof: '' });
    expect(await leadsTo(visitor)).toBe(200);
    clock.advance(MINUTE);
    expect(await leadsTo(visitor)).toBe(PROVE);
  });

  it.each<[string, (own: string, others: string) => string]>([
    ['none', () => ''],
    ['of another session', (_own, others) => others],
    ['changed', (own) => own.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))],
    ['of another time', (own) => own.replace(/^(\w+\.\w+\.)\w+/, '$1zzzzzzzzz')],
    ['for another use', () => signed('bound-session' as never)],
  ])('shows no page to a thief of the cookie with a proof that is %s', async (_, forged) => {
    const [visitor, other] = [await bound(), await bound()];
    const thief = visitorOf(service);
    thief.jar.set('refresh_token', visitor.jar.get('refresh_token') ?? '');
    thief.jar.set('page_visitor', forged(visitor.proven, other.proven));
    expect(await leadsTo(thief)).toBe(PROVE);
    const { headers } = await thief.post('/auth/account/username', { username: aPerson().username });
    expect(headers.location).toBe(PROVE);
  });
});

it('a page that gets a token long after its rotation ends the session, as a refresh does', async () => {
  const { jar, user, open } = await registeredVisitor(service);
  const thief = visitorOf(service);
  thief.jar.set('refresh_token', jar.get('refresh_token') ?? expect.unreachable());
  const next = tokensOf(await refreshWith(service, `refresh_token=${jar.get('refresh_token')}`).expect(200));
  jar.set('refresh_token', tokenIn(next.cookie));
  clock.advance(10 * SECOND);
  for (const visitor of [thief, { open }]) expect((await visitor.open('/auth/account')).status).toBe(200);
  clock.advance(1);
  for (const visitor of [thief, { open }])
    expect((await visitor.open('/auth/account')).headers.location).toBe(pathOfPage('log-in', '/auth/account'));
  expect((await eventsOf(service, user.id))[0]).toMatchObject({ kind: 'session-ended', reason: 'token-replayed' });
});

it.each(['/auth/account', '/auth/account/export'])('%s says that the session is over, whyever', async (path) => {
  const [ended, deleted, stranger] = [
    await registeredVisitor(service),
    await registeredVisitor(service),
    visitorOf(service),
  ];
  await service.http
    .get('/auth/clear-cookie')
    .set('Cookie', `refresh_token=${ended.jar.get('refresh_token')}`)
    .expect(200);
  await service.ports.users.remove(deleted.user.id);
  stranger.jar.set('refresh_token', 'a-forged-one');
  for (const visitor of [ended, deleted, stranger]) {
    expect((await visitor.open(path)).headers.location).toBe(pathOfPage('log-in', '/auth/account'));
    const { status, text } = await visitor.follow();
    expect([status, text]).toEqual([401, expect.stringContaining(TEXTS.errors.AUTH_FAILED)]);
    expect((await visitor.open('/auth/log-in')).status).toBe(200);
  }
  const nobody = visitorOf(service);
  await nobody.open(path);
  expect((await nobody.follow()).status).toBe(200);
});

describe('a second click', () => {
  const sessionsOf = async (username: string) => {
    const user = (await service.ports.users.findByUsername(username)) ?? expect.unreachable();
    return (await service.ports.sessions.listByUser(user.id, clock.now())).length;
  };

  it.each(['while the first one is in progress', 'after it'])('%s gets its answer and its cookies', async (when) => {
    const { person } = await registeredVisitor(service);
    const visitor = visitorOf(service);
    await visitor.open('/auth/log-in');
    const [form] = visitor.shown('log-in.account');
    const click = () =>
      visitorOf(service).post('/auth/log-in', { ...form?.fields, account: person.username, password: person.password });
    const [first, second] =
      when === 'after it' ? [await click(), await click()] : await Promise.all([click(), click()]);
    expect(second?.headers.location).toBe('/auth/account?tandem=logged-in');
    expect(second?.get('Set-Cookie')).toEqual(first?.get('Set-Cookie'));
    expect(await sessionsOf(person.username)).toBe(2);
    // Other fields, or the form of a page that was loaded again, are another attempt.
    for (const fields of [{ ...form?.fields, once: 'y'.repeat(43) }, {}, { ...form?.fields, to: '/auth/account' }])
      await visitorOf(service).post('/auth/log-in', { ...fields, account: person.username, password: person.password });
    expect(await sessionsOf(person.username)).toBe(5);
  });

  it('of somebody else is their own', async () => {
    const [ada, bob] = [await registeredVisitor(service), await registeredVisitor(service)];
    const form = { once: 'z'.repeat(43), locale: 'de' };
    for (const { post } of [ada, bob]) expect((await post('/auth/account/language', form)).status).toBe(303);
    for (const { user } of [ada, bob]) expect((await service.ports.users.findById(user.id))?.locale).toBe('de');
  });
});
