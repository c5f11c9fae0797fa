import { describe, expect, it } from 'vitest';
import { memoryRecords } from '../../../src/adapters/records/memory.ts';
import { storageOver } from '../../../src/adapters/records/storage.ts';
import { invite, revokeInvitation } from '../../../src/application/accounts/applicant.ts';
import { findInvitation, listInvitations } from '../../../src/application/storage/credentials.ts';
import { eventsOf, takeOperatorEvents } from '../../../src/application/storage/events.ts';
import type { Stored } from '../../../src/application/storage/records.ts';
import { MAX_INVITATIONS } from '../../../src/domain/registration.ts';
import { DUPLICATE, ORIGIN } from '../../support/account.ts';
import { ADA, application, DAY } from '../../support/application.ts';
import { anInvitation } from '../../support/builders.ts';
import { applicationWithMail } from '../../support/mail/sender.ts';
import { atCall } from '../../support/records/at-call.ts';
import { changedStorage } from '../../support/storage/changed-storage.ts';
import { beforeNextTransaction } from '../../support/transactions.ts';

const EMAIL = 'ada@example.org';
const REFUSED = { code: 'AUTH_REGISTRATION_REFUSED' };
const OPERATOR = { ...ORIGIN, actor: 'Jo' };

const setUp = () => {
  const app = applicationWithMail();
  const ask = { email: ADA.email, attributes: { roles: ['admin'] }, locale: null };
  const give = (more: Partial<typeof ask> | { readonly locale: string } = {}) =>
    invite(app)({ ...ask, ...more }, OPERATOR);
  /** Sends what waits. @returns the members of the links of the mails. */
  const links = async () =>
    (await app.sendAll()).map(({ text }) => {
      const [, fragment] = /\/account\/invitation#(\S+)$/m.exec(text) ?? expect.unreachable(text);
      return Object.fromEntries(new URLSearchParams(fragment));
    });
  const link = async () => (await links())[0]?.token ?? expect.unreachable('no mail was sent');
  const open = () => listInvitations(app.records, app.clock.now(), 9);
  return { app, give, links, link, open };
};

describe('an invitation', () => {
  it('is sent with a link of seven days, in the language of the operator’s choice', async () => {
    const { app, give } = setUp();
    await give({ locale: 'de' });
    const [mail] = await app.sendAll();
    expect(mail).toMatchObject({ to: EMAIL, subject: 'Ihre Einladung zu auth.example.org' });
    expect(mail?.text).toContain('7 Tage');
    app.clock.advance(7 * DAY - 1);
    expect(await findInvitation(app.records, { email: EMAIL }, app.clock.now())).not.toBeNull();
    app.clock.advance(1);
    expect(await findInvitation(app.records, { email: EMAIL }, app.clock.now())).toBeNull();
  });

  it('registers with its address as proven and its attributes, and tells who did what', async () => {
    const { app, give, links, open } = setUp();
    const invitation = await give();
    const [{ token = '', email } = {}] = await links();
    expect(email).toBe(EMAIL);
    expect(JSON.stringify(await open())).not.toContain(token);
    const { user } = await app.register({ ...ADA, invitation: token });
    const at = app.clock.now();
    expect(await app.users.findById(user.id)).toMatchObject({ emailVerifiedAt: at, attributes: { roles: ['admin'] } });
    expect(await open()).toEqual([]);
    const events = await eventsOf(app.records, { userId: user.id, before: null, limit: 9 });
    expect(events.map(({ kind }) => kind).toSorted()).toEqual(['email-verified', 'registered']);
    expect(await app.sendAll()).toEqual([]);
    await give({ email: 'eve@example.org' });
    await revokeInvitation(app)('eve@example.org', OPERATOR);
    const operated = await takeOperatorEvents(app, 9);
    expect(operated.map(({ kind, actor }) => `${actor} ${kind}`)).toEqual([
      'Jo invited',
      'Jo invited',
      'Jo invitation-revoked',
    ]);
    expect(operated[0]).toMatchObject({ userId: (invitation as { readonly id: string }).id });
  });

  it.each<[string, (set: ReturnType<typeof setUp>) => Promise<unknown>]>([
    [
      'another one has replaced',
      async ({ give, app }) => {
        app.clock.advance(1);
        await give();
      },
    ],
    ['was revoked', ({ app }) => revokeInvitation(app)(EMAIL, OPERATOR)],
    ['has expired', async ({ app }) => app.clock.advance(7 * DAY)],
  ])('that %s does not register', async (_what, end) => {
    const set = setUp();
    await set.give();
    const token = await set.link();
    await end(set);
    await expect(set.app.register({ ...ADA, invitation: token })).rejects.toMatchObject(REFUSED);
    expect(await set.app.users.findByEmail(EMAIL)).toBeNull();
  });

  it('is not sent any more once it was replaced or revoked', async () => {
    const { app, give, links } = setUp();
    await give();
    app.clock.advance(1);
    await give();
    expect(await links()).toHaveLength(1);
    app.clock.advance(1);
    await give();
    await revokeInvitation(app)(EMAIL, OPERATOR);
    expect(await links()).toEqual([]);
    expect(await revokeInvitation(app)(EMAIL, OPERATOR)).toBeNull();
  });

  it('does not come back when it is revoked while its mail is written', async () => {
    const storage = changedStorage(storageOver(memoryRecords()), ({ records }) => ({
      records: atCall(records, ['list', 'invitations'], async (list) => {
        const found = (await list()) as Stored<'invitations'>[];
        await records.remove('invitations', found);
        return found;
      }),
    }));
    const app = applicationWithMail({}, application(storage));
    await invite(app)({ email: EMAIL, attributes: {}, locale: null }, OPERATOR);
    expect(await app.sendAll()).toEqual([]);
    expect(await listInvitations(app.records, app.clock.now(), 9)).toEqual([]);
  });

  it('is sent five times at once, and then as often as the mailbox may get it', async () => {
    const { app, give, links } = setUp();
    const sent = [];
    for (let time = 0; time < 7; time += 1) {
      app.clock.advance(1);
      await give();
      sent.push((await links()).length);
    }
    expect(sent).toEqual([1, 1, 1, 1, 1, 0, 0]);
    app.clock.advance(DAY / 5);
    await give();
    expect(await links()).toHaveLength(1);
  });

  it('is not made for an address with an account that somebody has proven, nor beyond the limit', async () => {
    const { app, give } = setUp();
    const { user } = await app.register(ADA);
    expect(await give()).toMatchObject({ email: EMAIL });
    await app.users.update(user.id, { emailVerifiedAt: 1, now: 1 });
    expect(await give()).toBe('registered');
    const records = memoryRecords();
    const full = application(storageOver(records));
    for (let at = 1; at < MAX_INVITATIONS; at += 1) {
      const row = anInvitation({ expiresAt: full.clock.now() + DAY });
      await records.insert('invitations', row);
    }
    const ask = (email: string) => invite(full)({ email, attributes: {}, locale: null }, OPERATOR);
    expect(await ask(EMAIL)).toMatchObject({ email: EMAIL });
    expect(await ask('eve@example.org')).toBe('too-many');
    expect(await ask(EMAIL)).toMatchObject({ email: EMAIL });
  });

  it.each([
    ['somebody proves', { emailVerifiedAt: 1 }],
    ['gets another address', { email: 'ada@elsewhere.example' }],
  ])('takes no account over that %s at that moment', async (_what, change) => {
    const { app, give, link } = setUp();
    const { user } = await app.register(ADA);
    await give();
    const input = { ...ADA, username: 'Invited', invitation: await link() };
    beforeNextTransaction(app, () => app.users.update(user.id, { ...change, now: 1 }));
    await expect(app.register(input)).rejects.toMatchObject(DUPLICATE);
    expect(await app.users.findById(user.id)).toMatchObject({ username: ADA.username, ...change });
  });

  it('is valid again after a registration that was cancelled too late', async () => {
    const { app, give, link, open } = setUp();
    await give();
    const invitation = await link();
    const before = await open();
    let checks = 0;
    const cancelledLast = {
      throwIfAborted: () => {
        checks += 1;
        if (checks === 4) throw new Error('too late');
      },
    };
    await expect(app.register({ ...ADA, invitation }, cancelledLast)).rejects.toThrow('too late');
    expect([await open(), await app.users.findByEmail(EMAIL)]).toEqual([before, null]);
    expect((await app.register({ ...ADA, invitation })).user.email).toBe(EMAIL);
  });
});
