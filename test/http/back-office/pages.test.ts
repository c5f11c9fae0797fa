import { describe, expect, it } from 'vitest';
import { removeMassEnded } from '../../../src/application/sessions/purge.ts';
import { listInvitations } from '../../../src/application/storage/credentials.ts';
import { aDelivery, aUser, aWebhook } from '../../support/builders.ts';
import { eventsOf, linkIdentity, serviceStarter } from '../../support/http/account.ts';
import { refreshWith, signUp } from '../../support/http/auth-http.ts';
import { OFFICE, WITH_OFFICE } from '../../support/http/back-office.ts';
import { memoryMailer } from '../../support/mail/memory-mailer.ts';

const start = serviceStarter();
const SECRET = 'a-secret-that-only-the-proxy-knows';
const PROXY = { Host: new URL(OFFICE).host, 'Tandem-Proxy-Secret': SECRET, 'X-Forwarded-Email': 'ada@example.org' };
/** What events name her: a program could be called the same. */
const ACTOR = 'ada@example.org (page)';
const DONE = ': Done.</p>';
const FORM = { ...PROXY, Origin: OFFICE };
const BEHIND_PROXY = { ...WITH_OFFICE, ADMIN_IDENTITY_HEADER: 'X-Forwarded-Email', ADMIN_PROXY_SECRET: SECRET };
const service = await start(BEHIND_PROXY, { mailer: memoryMailer() });

const open = (path: string, headers: object = PROXY) =>
  service.office.get(path).set({ Accept: 'text/html', ...headers });
const send = (path: string, fields: object = {}, headers: object = FORM) =>
  service.office
    .post(path)
    .type('form')
    .set({ Accept: 'text/html', ...headers })
    .send(fields);
/** What the page says to which a form leads. */
const said = async (path: string, fields?: object) => {
  const { status, headers } = await send(path, fields);
  expect({ path, status }).toEqual({ path, status: 303 });
  return (await open(`${headers.location}`)).text;
};

describe('the pages of the back office', () => {
  it.each<[string, object, number]>([
    ['without the secret', { 'Tandem-Proxy-Secret': '' }, 401],
    ['with another secret', { 'Tandem-Proxy-Secret': `${SECRET}.` }, 401],
    ['without a name', { 'X-Forwarded-Email': '' }, 401],
    ['with two names in one header', { 'X-Forwarded-Email': 'eve@example.org, ada@example.org' }, 401],
    ['with two headers', { 'X-Forwarded-Email': ['eve@example.org', 'ada@example.org'] }, 401],
    ['with the secret twice', { 'Tandem-Proxy-Secret': [SECRET, SECRET] }, 401],
    ['with a name in another header', { 'X-Forwarded-Email': '', X_Forwarded_Email: 'ada@example.org' }, 401],
    ['with a name that hides something', { 'X-Forwarded-Email': Buffer.from('a\u00adb').toString('latin1') }, 401],
    ['for another host', { Host: 'rebound.example' }, 403],
    ['for an IP address', { Host: '127.0.0.1' }, 403],
  ])('are refused %s', async (_how, changed, status) => {
    const { user, cookie } = await signUp(service);
    expect((await open('/office/users', { ...PROXY, ...changed })).status).toBe(status);
    expect((await send(`/office/users/${user.id}/end-sessions`, {}, { ...FORM, ...changed })).status).toBe(status);
    await refreshWith(service, cookie).expect(200);
  });

  it('are at the host of ADMIN_URL, also if it is an address of IPv6', async () => {
    const { office } = await start({ ...BEHIND_PROXY, ADMIN_URL: 'http://[::1]:9470' });
    await office
      .get('/office/users')
      .set({ ...PROXY, Host: '[::1]:9470' })
      .expect(200);
    await office
      .get('/office/users')
      .set({ ...PROXY, Host: '[::2]:9470' })
      .expect(403);
  });

  it.each<[string, object]>([
    ['another origin', { Origin: 'https://attacker.example' }],
    ['no origin', { Origin: '' }],
    ['another site', { Origin: '', 'Sec-Fetch-Site': 'cross-site' }],
    ['another host of the site', { Origin: '', 'Sec-Fetch-Site': 'same-site' }],
    ['a document without an origin', { Origin: 'null' }],
    ['a frame without an origin', { Origin: 'null', 'Sec-Fetch-Site': 'cross-site' }],
  ])('take no form of %s', async (_which, changed) => {
    const { user } = await signUp(service);
    await send(`/office/users/${user.id}/disable-user`, {}, { ...FORM, ...changed }).expect(403);
    expect(await service.ports.users.findById(user.id)).toMatchObject({ disabledAt: null });
  });

  it('take forms behind a proxy that adds `Referrer-Policy: no-referrer`', async () => {
    const { user } = await signUp(service);
    const hidden = { ...FORM, Origin: 'null', 'Sec-Fetch-Site': 'same-origin' };
    await send(`/office/users/${user.id}/disable-user`, {}, hidden).expect(303);
    expect((await service.ports.users.findById(user.id))?.disabledAt).not.toBeNull();
  });

  it('admit nobody to the routes for programs, and nobody publicly', async () => {
    await open('/users').expect(401);
    await service.http.get('/office/users').expect(404);
  });

  it('do what programs do, with the name of the person', async () => {
    const { user, cookie } = await signUp(service);
    await linkIdentity(service, user);
    const at = `/office/users/${user.id}`;
    const idIn = async (form: string) =>
      new RegExp(`action="${at}/${form}".*?Id" value="(\\w+)"`, 's').exec((await open(at)).text)?.[1];
    expect(await said(`${at}/end-session`, { sessionId: await idIn('end-session') })).toContain(DONE);
    await refreshWith(service, cookie).expect(401);
    expect(await said(`${at}/unlink-identity`, { identityId: await idIn('unlink-identity') })).toContain(DONE);
    expect(await said(`${at}/unlink-identity`, { identityId: user.id })).toContain('role="alert"');
    expect(await said(`${at}/remove-factors`)).toContain(DONE);
    await said(`${at}/disable-user`);
    expect(await said(`${at}/enable-user`)).toContain(DONE);
    expect(await said(`${at}/unlock-user`)).toContain(DONE);
    expect(await said(`${at}/set-email`, { email: 'other@example.org', emailVerified: 'on' })).toContain(DONE);
    expect(await said(`${at}/reset-link`, { handOver: 'on' })).toContain('/password-reset#token=');
    const kinds = (await eventsOf(service, user.id)).flatMap(({ kind, actor }) => (actor === ACTOR ? kind : []));
    expect(kinds).toEqual([
      ...['password-link-handed-over', 'email-changed', 'unlocked', 'enabled', 'disabled'],
      ...['identity-unlinked', 'session-ended'],
    ]);
    expect(await said('/office/invitations/invite', { email: 'invited@example.org' })).toContain(DONE);
    expect(await listInvitations(service.ports.records, Date.now(), 10)).toMatchObject([
      { email: 'invited@example.org' },
    ]);
  });

  it.each([
    ['on', null, true, true],
    ['off', memoryMailer(), true, false],
    ['off', null, false, false],
  ])('offer what is possible with RESET_LINK_HAND_OVER=%s, by the mailer %j', async (value, mailer, form, choice) => {
    const { office, ports } = await start({ ...BEHIND_PROXY, RESET_LINK_HAND_OVER: value }, { mailer });
    const user = aUser();
    await ports.users.add(user);
    const { text } = await office.get(`/office/users/${user.id}`).set({ Accept: 'text/html', ...PROXY });
    expect([text.includes(`/${user.id}/reset-link"`), text.includes('name="handOver"')]).toEqual([form, choice]);
  });

  it('create, find and delete a user, who has to be confirmed', async () => {
    const created = await said('/office/users/create-user', { email: 'found@example.org', emailVerified: 'on' });
    const [, path = ''] = /action="(\/office\/users\/\w+)\/delete-user"/.exec(created) ?? [];
    expect((await open('/office/users?contains=FOUND@&only=&cursor=')).text).toContain(`href="${path}"`);
    expect(await said(`${path}/delete-user`, { confirm: 'no' })).toContain('role="alert"');
    expect((await open(path)).status).toBe(200);
    expect(await said(`${path}/delete-user`, { confirm: 'found' })).toContain(DONE);
    expect((await open(path)).status).toBe(404);
  });

  it('say what was wrong, with what was typed, to that person alone', async () => {
    const { person } = await signUp(service);
    const { headers } = await send('/office/users/create-user', { email: person.email });
    const own = (await open(`${headers.location}`)).text;
    expect(own).toContain('This email is already registered.');
    expect(own).toContain(`value="${person.email}"`);
    const other = await open(`${headers.location}`, { ...PROXY, 'X-Forwarded-Email': 'eve@example.org' });
    expect(other.text).not.toContain('already registered');
    expect((await open('/office/users?said=forged')).text).not.toContain('class="notice"');
  });

  it('end the sessions of all after a typed word', async () => {
    const { cookie, user } = await signUp(service);
    const refused = await said('/office/users/end-all-sessions', { reason: 'An incident.', confirm: 'no' });
    expect(refused).toMatch(/role="alert".*value="An incident\."/s);
    await said('/office/users/end-all-sessions', { reason: 'An incident.', confirm: 'end all sessions' });
    await refreshWith(service, cookie).expect(401);
    while ((await removeMassEnded(service.ports)(100)) !== null);
    expect((await eventsOf(service, user.id))[0]).toMatchObject({ note: 'An incident.', actor: ACTOR });
  });

  it('show what an operator did, also to a user who is gone, and to nobody else', async () => {
    const { user, person } = await signUp(service);
    const at = `/office/users/${user.id}`;
    await said(`${at}/disable-user`, { reason: 'A leak.' });
    expect((await open('/office/events?kind=disabled')).text).toContain(`<a href="${at}">${person.username}</a>`);
    await said(`${at}/delete-user`, { confirm: person.username });
    const ofAda = (await open(`/office/events?${new URLSearchParams({ actor: ACTOR, kind: 'deleted' })}`)).text;
    expect(ofAda).toContain(`<code>${user.id}</code>`);
    expect((await open('/office/events?actor=eve&kind=')).text).toContain('There are none.');
    const other = await signUp(service);
    const byEve = { ...FORM, 'X-Forwarded-Email': 'eve@example.org' };
    await send(`/office/users/${other.user.id}/disable-user`, {}, byEve).expect(303);
    const suggested = (await open('/office/events')).text.matchAll(/<option value="(.*?\(page\))">/g);
    expect([...suggested].map(([, name]) => name)).toEqual([ACTOR, 'eve@example.org (page)']);
    expect((await open('/office/events?kind=disabled')).text).not.toContain(user.id);
  });

  it('export a user as a file, state attributes, and take an invitation back', async () => {
    const { user } = await signUp(service);
    const { headers, body } = await open(`/office/users/${user.id}/export`);
    expect(headers['content-disposition']).toBe(`attachment; filename="${user.id}.json"`);
    expect(body.data.user).toMatchObject({ id: user.id });
    const calls = service.logs.filter(({ msg, userId }) => msg === 'back office' && userId === user.id);
    expect(calls.map(({ call }) => call)).toEqual(['operators-export-user']);
    const form = `/office/users/${user.id}/set-attributes`;
    expect(await said(form, { attributes: '[' })).toContain('role="alert"');
    expect(await said(form, { attributes: '{"plan":"free"}' })).toContain('{&#34;plan&#34;:&#34;free&#34;}');
    await said('/office/invitations/invite', { email: 'back@example.org' });
    expect((await open('/office/invitations')).text).toContain('back@example.org');
    const revoked = await said('/office/invitations/revoke-invitation', { email: 'back@example.org' });
    expect(revoked).toContain(DONE);
    expect(revoked).not.toContain('value="back@example.org"');
  });

  it('show how much happened, in pictures and tables', async () => {
    await signUp(service);
    for (const range of ['', '?range=7d', '?range=30d']) {
      const { text } = await open(`/office${range}`);
      expect(text).toMatch(/<svg[^>]+role="img" aria-label="Registrations: \d+ in all, at most \d+ \(/);
      expect(text).toMatch(/<title>[\d:-]+: Registrations [1-9]\d*<\/title><rect class="s1"/);
    }
    await open('/office?range=1y').expect(400);
  });

  it('show webhooks with what waits and failed, and send it again', async () => {
    const { records } = service.ports;
    const { user } = await signUp(service);
    const webhook = aWebhook({ url: 'https://crm.example.org/in', disabledAt: 1 });
    for (const each of [webhook, aWebhook()]) await records.insert('webhooks', each);
    const delivery = aDelivery({ webhookId: webhook.id, userId: user.id, attempts: 9 });
    await records.insert('deliveries', { ...delivery, lastError: '503', isWaiting: false, nextAttemptAt: null });
    const { text } = await open('/office/webhooks');
    expect(text).toMatch(/crm\.example\.org.*Disabled.*1 given up.*503/s);
    // Nothing waits for the other one.
    expect(text.match(/<button>Send again/g)).toHaveLength(1);
    expect(await said('/office/webhooks/replay-webhook', { id: user.id })).toContain('role="alert"');
    const again = await said('/office/webhooks/replay-webhook', { id: webhook.id });
    expect(again).toMatch(/Send again: Done\..*Enabled.*1 waiting/s);
    expect(again).not.toContain('given up<');
  });

  it('show settings without secrets', async () => {
    const { text } = await open('/office/settings');
    expect(text).toMatch(/ADMIN_<wbr>PROXY_<wbr>SECRET.*set, and secret/s);
    expect(text).toContain('<code>https://office.example.org</code>');
    expect(text).not.toContain(SECRET);
  });

  it('show what others have chosen as text, load no script, and are in the audit log', async () => {
    const { user, person } = await signUp(service);
    const login = { account: person.email, password: person.password };
    await service.http.post('/auth/login').set('User-Agent', '<script>alert(1)</script>').send(login).expect(200);
    const { text, headers } = await open(`/office/users/${user.id}`);
    expect(text).toContain('&#60;script&#62;alert(1)');
    expect(text).toContain('<dt>Password changed</dt><dd>never</dd>');
    expect(text).not.toContain('<script');
    expect(headers['content-security-policy']).toMatch(/^default-src 'none';.*form-action 'self'/);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['set-cookie']).toBeUndefined();
    const line = { msg: 'back office', actor: ACTOR, call: 'office-user', userId: user.id };
    expect(service.logs).toContainEqual(expect.objectContaining(line));
    for (const style of ['/pages.css', '/office.css']) {
      expect((await open('/office/nowhere').expect(404)).text).toContain(`href="${style}"`);
      await open(style).expect(200);
    }
  });
});
