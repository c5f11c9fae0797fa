import { describe, expect, it } from 'vitest';
import { removeMassEnded } from '../../../src/application/sessions/purge.ts';
import { linksOf } from '../../../src/application/storage/credentials.ts';
import { NO_PASSWORD } from '../../../src/domain/password.ts';
import { eventsOf, linkIdentity, serviceStarter } from '../../support/http/account.ts';
import { refreshWith, signUp } from '../../support/http/auth-http.ts';
import { ask, READER, SUPPORT, WITH_OFFICE } from '../../support/http/back-office.ts';
import { aPerson } from '../../support/http/service.ts';
import { memoryMailer } from '../../support/mail/memory-mailer.ts';

const start = serviceStarter();
const UNKNOWN = '01J0000000000000000000000A';
const service = await start(WITH_OFFICE, { mailer: memoryMailer() });

const latest = async (userId: string) => (await eventsOf(service, userId))[0];

/** What a call that changes something leaves: the event, by the name of the key, and without a device. */
const BY_SUPPORT = { actor: SUPPORT.name, userAgent: null, address: null, requestId: expect.any(String) };

const HANDED_OVER = { url: expect.stringContaining('/password-reset#token='), expiresAt: expect.any(String) };
const NEW = { email: 'New.2@example.org' };
const CHANGED = { email: 'new.2@example.org' };

describe('a program of an operator', () => {
  it.each<[string, 'post' | 'put' | 'delete', string, object | undefined, string, object]>([
    ['disables', 'post', 'disable', { reason: ' A leak. ' }, 'disabled', { changed: true, endedSessions: 1 }],
    ['ends the sessions of', 'delete', 'sessions', { reason: 'A leak.' }, 'session-ended', { endedSessions: 1 }],
    ['states attributes about', 'put', 'attributes', { attributes: { a: 1 } }, 'attributes-changed', { changed: true }],
    ['mails a link to', 'post', 'reset-link', undefined, 'password-reset-requested', { url: null, expiresAt: null }],
    ['hands a link over for', 'post', 'reset-link', { handOver: true }, 'password-link-handed-over', HANDED_OVER],
    ['unlocks', 'post', 'unlock', undefined, 'unlocked', {}],
    ['proves the address of', 'post', 'email/verify', undefined, 'email-verified', { changed: true }],
    ['sends a link again to', 'post', 'email/resend', undefined, 'email-verification-requested', { sent: true }],
    ['asks for the new address of', 'put', 'email', { email: 'New.1@example.org' }, 'email-change-requested', {}],
    ['changes the address of', 'put', 'email', { ...NEW, emailVerified: true }, 'email-changed', CHANGED],
  ])('%s a user, which is an event with its name', async (_does, method, path, body, kind, data) => {
    const { user } = await signUp(service);
    const answer = await ask(service, method, `/users/${user.id}/${path}`, body);
    expect({ status: answer.status, data: answer.body.data ?? {} }).toMatchObject({ status: 200, data });
    const events = await eventsOf(service, user.id);
    expect(events.find((event) => event.kind === kind)).toMatchObject(BY_SUPPORT);
    const of = { actor: SUPPORT.name, userId: user.id, msg: 'back office' };
    expect(service.logs).toContainEqual(expect.objectContaining(of));
    const { body: shown } = await ask(service, 'get', `/users/${user.id}/events`, undefined, READER);
    expect(shown.data.events).toContainEqual(expect.objectContaining({ kind, actor: SUPPORT.name }));
  });

  it('enables a user again, removes factors and an identity, ends one session, and deletes', async () => {
    const { user, cookie } = await signUp(service);
    const { id } = await linkIdentity(service, user);
    const call = async (method: 'get' | 'post' | 'put' | 'delete', path: string, given?: object) => {
      const { status, body } = await ask(service, method, `/users/${user.id}${path}`, given);
      expect({ path, status }).toEqual({ path, status: 200 });
      return body.data;
    };
    const [session] = (await call('get', '/sessions')).sessions;
    await call('delete', `/sessions/${session.id}`);
    await refreshWith(service, cookie).expect(401);
    await call('delete', `/identities/${id}`);
    // Until its link is used, the address is as it was.
    expect(await call('put', '/email', { email: aPerson().email })).toMatchObject({ email: user.email });
    expect(await call('delete', '/factors')).toEqual({ apps: 0, recoveryCodes: 0, passkeys: 0 });
    await call('post', '/disable');
    expect(await call('post', '/enable')).toEqual({ changed: true });
    expect(await latest(user.id)).toMatchObject({ kind: 'enabled', ...BY_SUPPORT });
    expect((await call('get', '/export')).user).toMatchObject({ id: user.id, disabledAt: null });
    await call('delete', '');
    expect((await ask(service, 'get', `/users/${user.id}`)).status).toBe(404);
  });

  it('creates a user, whose address cannot be taken twice', async () => {
    const body = { email: 'Created@Example.org', username: 'Created', emailVerified: true, attributes: { a: 1 } };
    const created = await ask(service, 'post', '/users', body);
    expect(created.status).toBe(201);
    const { id } = created.body.data;
    const stored = { email: 'created@example.org', username: 'Created', attributes: { a: 1 } };
    expect(created.body.data).toMatchObject(stored);
    expect(created.body.data).not.toHaveProperty('passwordHash');
    expect(await service.ports.users.findById(id)).toMatchObject({ passwordHash: NO_PASSWORD });
    expect(await latest(id)).toMatchObject({ kind: 'registered', ...BY_SUPPORT });
    const { user } = await signUp(service);
    for (const [method, path, given] of [
      ['post', '/users', { email: 'created@example.org' }],
      ['post', '/users', { email: 'other@example.org', username: 'CREATED' }],
      ['put', `/users/${user.id}/email`, { email: 'created@example.org', emailVerified: true }],
      ['post', '/invitations', { email: 'created@example.org' }],
    ] as const) {
      const { status, body: refused } = await ask(service, method, path, given);
      expect({ path, status, code: refused.code }).toEqual({ path, status: 409, code: 'AUTH_USER_DUPLICATE' });
    }
  });

  it('lists users, the newest first and in pages, finds them by a part of a name or an address, and counts them', async () => {
    const people = [await signUp(service), await signUp(service), await signUp(service)];
    const newest = people.toReversed().map(({ user }) => user.id);
    const ids = async (query: string) => {
      const { body } = await ask(service, 'get', `/users?${query}`, undefined, READER);
      return { ids: body.data.users.map(({ id }: { id: string }) => id), next: body.data.next };
    };
    const first = await ids('limit=2');
    expect(first.ids).toEqual(newest.slice(0, 2));
    expect((await ids(`limit=1&cursor=${first.next}`)).ids).toEqual([newest[2]]);
    const name = people[1]?.user.username.toUpperCase();
    expect((await ids(`contains=${name}`)).ids).toEqual([newest[1]]);
    const short = await ids('contains=P&limit=100');
    expect(short.ids).toEqual(expect.arrayContaining(newest));
    expect((await ids(`contains=P&limit=1&cursor=${short.ids[0]}`)).ids).toEqual([short.ids[1]]);
    const { count } = (await ask(service, 'get', '/users/count')).body.data;
    const oldest = await ids('newest=false&limit=100');
    expect(oldest.ids).toHaveLength(count);
    expect(oldest.ids.slice(-3)).toEqual(newest.toReversed());
  });

  it('is told that a service without mail sends no link', async () => {
    const silent = await start(WITH_OFFICE, { mailer: null });
    const { email } = aPerson();
    const create = (sendLink: boolean) => ask(silent, 'post', '/users', { email, sendLink });
    const refused = await create(true);
    const details = [{ field: 'sendLink', code: 'invalid_value', message: 'must be false: the service sends no mail' }];
    expect([refused.status, refused.body.details]).toEqual([400, details]);
    const { data } = (await create(false)).body;
    const unsent = async (method: 'put' | 'post', path: string, field: string) => {
      const { status, body } = await ask(silent, method, `/users/${data.id}/${path}`, { email: aPerson().email });
      const message = 'must be true: the service sends no mail';
      expect([status, body.details]).toEqual([400, [{ field, code: 'invalid_value', message }]]);
    };
    await unsent('put', 'email', 'emailVerified');
    await unsent('post', 'reset-link', 'handOver');
    const handedOver = await ask(silent, 'post', `/users/${data.id}/reset-link`, { handOver: true });
    expect(handedOver.body.data).toEqual(HANDED_OVER);
  });

  it('gets no link by default', async () => {
    const usual = await start({ ...WITH_OFFICE, RESET_LINK_HAND_OVER: '' }, { mailer: memoryMailer() });
    const { user } = await signUp(usual);
    const refused = await ask(usual, 'post', `/users/${user.id}/reset-link`, { handOver: true });
    const details = [{ field: 'handOver', code: 'invalid_value', message: 'needs RESET_LINK_HAND_OVER=on' }];
    expect([refused.status, refused.body.details]).toEqual([400, details]);
    expect(await linksOf(usual.ports.records, user.id, usual.ports.clock.now())).toEqual([]);
    const mailed = await ask(usual, 'post', `/users/${user.id}/reset-link`, { handOver: false });
    expect(mailed.body.data).toEqual({ url: null, expiresAt: null });
  });

  it('invites an address, and takes that back', async () => {
    const { email } = aPerson();
    const { status, body } = await ask(service, 'post', '/invitations', { email, locale: 'de' });
    expect({ status, data: body.data }).toMatchObject({ status: 201, data: { email } });
    expect(body.data).not.toHaveProperty('tokenHash');
    const listed = async () => (await ask(service, 'get', '/invitations')).body.data.invitations;
    expect(await listed()).toContainEqual(expect.objectContaining({ email }));
    expect((await ask(service, 'delete', '/invitations', { email })).status).toBe(200);
    expect((await ask(service, 'delete', '/invitations', { email })).status).toBe(404);
    expect(await listed()).toEqual([]);
  });

  it('ends the sessions of all users, who can read why', async () => {
    const people = [await signUp(service), await signUp(service)];
    const { status, body } = await ask(service, 'delete', '/sessions', { reason: 'An incident.' });
    expect({ status, data: body.data }).toEqual({ status: 202, data: null });
    for (const { cookie, accessToken } of people) {
      await refreshWith(service, cookie).expect(401);
      for (const path of ['/users/me', '/auth/gateway', '/auth/sessions'])
        await service.http.get(path).set('Authorization', `Bearer ${accessToken}`).expect(401);
    }
    while ((await removeMassEnded(service.ports)(100)) !== null);
    for (const { person, user } of people) {
      const ended = (await eventsOf(service, user.id)).find(({ kind }) => kind === 'session-ended');
      expect(ended).toMatchObject({ reason: 'operator', note: 'An incident.', actor: SUPPORT.name });
      await service.http.post('/auth/login').send({ account: person.email, password: person.password }).expect(200);
    }
  });

  it.each<[string, 'get' | 'post' | 'put' | 'delete', string, object | undefined, string]>([
    ['an id of another form', 'get', '/users/me', undefined, 'id'],
    ['an unknown parameter', 'get', '/users?sort=name', undefined, 'sort'],
    ['an empty text', 'get', '/users?contains=', undefined, 'contains'],
    ['another cursor', 'get', '/events?before=1', undefined, 'before'],
    ['no address at all', 'put', `/users/${UNKNOWN}/email`, { email: 'none' }, 'email'],
    ['a hidden character', 'post', `/users/${UNKNOWN}/disable`, { reason: 'a\u202Eb' }, 'reason'],
    ['no reason for all users', 'delete', '/sessions', { userId: UNKNOWN }, 'reason'],
    ['a reserved name', 'put', `/users/${UNKNOWN}/attributes`, { attributes: { sub: 1 } }, 'attributes'],
  ])('is told which field is not valid: %s', async (_what, method, path, body, field) => {
    const answer = await ask(service, method, path, body);
    expect([answer.status, answer.body.code]).toEqual([400, 'CLIENT_PARAMS_VALIDATION_FAILED']);
    expect(answer.body.details).toContainEqual(expect.objectContaining({ field }));
  });

  it('gets 404 for an unknown user', async () => {
    const bodies: Record<string, object> = { email: { email: 'a@example.org' }, attributes: { attributes: {} } };
    const ofUser = service.backOffice?.routes.filter(({ path }) => path.startsWith('/users/:id')) ?? [];
    expect(ofUser.length).toBeGreaterThan(12);
    for (const { method, path } of ofUser) {
      const verb = method.toLowerCase() as 'get' | 'post' | 'put' | 'delete';
      const answer = await ask(service, verb, path.replaceAll(/:\w+/g, UNKNOWN), bodies[path.split('/')[3] ?? '']);
      expect({ method, path, status: answer.status }).toEqual({ method, path, status: 404 });
    }
  });
});
