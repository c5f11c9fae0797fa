// Proves mail-6

import { describe, expect, it } from 'vitest';
import { purges } from '../../../src/application/sessions/purge.ts';
import { linksOf } from '../../../src/application/storage/credentials.ts';
import { NO_ORIGIN } from '../../../src/domain/event.ts';
import { MAIL_INTERVAL } from '../../../src/domain/event-table.ts';
import type { MessageKind } from '../../../src/domain/message.ts';
import { ADA, DAY, MINUTE, SECOND } from '../../support/application.ts';
import { applicationWithMail } from '../../support/mail/sender.ts';
import { beforeNextTransaction } from '../../support/transactions.ts';

const STRANGER = { ...NO_ORIGIN, address: '203.0.113.0/24' };
const OWNER = { ...NO_ORIGIN, address: '198.51.100.0/24' };
const MAILBOX = 'victim@example.org';

const setUp = (given: Parameters<typeof applicationWithMail>[0] = {}) => {
  const app = applicationWithMail(given);
  let registered = 0;
  const register = async (email = `user${registered}@example.org`) => {
    registered += 1;
    return (await app.register({ ...ADA, username: `user${registered}`, email })).user.id;
  };
  /** How many of so many messages are sent. */
  const sent = async (
    kind: MessageKind,
    userId: string | null,
    { times = 1, to = MAILBOX, origin = STRANGER } = {},
  ) => {
    for (let time = 0; time < times; time += 1) await app.enqueue({ kind, userId, to }, origin);
    return (await app.sendAll()).length;
  };
  /** Accounts of a stranger with spellings of the mailbox. */
  const spellings = async (count: number) => {
    const accounts = [];
    for (let at = 0; at < count; at += 1) {
      const to = MAILBOX.replace('@', `+${at}@`);
      accounts.push({ to, userId: await register(to) });
    }
    return accounts;
  };
  const hasLive = async (userId: string) =>
    (await linksOf(app.records, userId, app.clock.now())).some(({ purpose }) => purpose === 'password-reset');
  return { app, register, sent, spellings, hasLive };
};

type World = ReturnType<typeof setUp>;

/** What a stranger may do before the owner asks for a link. @param to the address of the owner. */
const ACTS: Readonly<Record<string, (world: World, to: string) => Promise<unknown>>> = {
  'registers many spellings of the mailbox, and asks for links to each': async ({ sent, spellings }) => {
    for (const { to, userId } of await spellings(60)) {
      await sent('email-verification', userId, { to });
      await sent('password-reset-request', null, { to });
      await sent('email-verification-request', null, { to });
    }
  },
  'causes every notice at a spelling of the mailbox': async ({ sent, spellings }) => {
    for (const { to, userId } of await spellings(3))
      for (const kind of ['password-changed', 'new-device', 'email-changed', 'address-taken'] as const)
        await sent(kind, userId, { to, times: 9 });
  },
  'causes every notice at the address': async ({ app, sent }, to) => {
    const id = (await app.users.findByEmail(to))?.id ?? null;
    for (const kind of ['password-changed', 'new-device', 'address-taken'] as const)
      await sent(kind, id, { to, times: 9 });
  },
  'wants the address for many accounts': async ({ register, sent }, to) => {
    for (let account = 0; account < 20; account += 1) await sent('email-change', await register(), { to, times: 3 });
  },
  'asks for links to the address all the time': async ({ app, sent }, to) => {
    for (let time = 0; time < 40; time += 1) {
      await sent('password-reset-request', null, { to });
      await sent('email-verification-request', null, { to });
      app.clock.advance(3 * MINUTE);
    }
  },
};

const OWNERS: readonly (readonly [string, string, boolean])[] = [
  ['an address that is not verified', MAILBOX, false],
  ['an address that is verified', MAILBOX, true],
  ['a spelling that is verified', 'vic.tim+news@gmail.com', true],
  ['a spelling that is not verified', 'victim+news@example.org', false],
];

describe.each(OWNERS)('the owner of %s', (_what, to, isVerified) => {
  it.each(Object.keys(ACTS))('has a live link after asking for it, when a stranger %s', async (act) => {
    const world = setUp();
    const { app, register, sent, hasLive } = world;
    const owner = await register(to);
    if (isVerified) await app.users.update(owner, { emailVerifiedAt: 1, now: 1 });
    await ACTS[act]?.(world, to);
    await sent('password-reset-request', null, { to, origin: OWNER });
    expect(await hasLive(owner)).toBe(true);
  });
});

describe('codes to log in with', () => {
  it('are one a minute for each network, five at once, and then one in half an hour', async () => {
    const { app, register, sent } = setUp();
    await register(MAILBOX);
    const mails: number[] = [];
    for (let minute = 0; minute < 60; minute += 1) {
      mails.push(await sent('login-code-request', null, { times: 2 }));
      app.clock.advance(MINUTE);
    }
    expect(mails.slice(0, 5)).toEqual([1, 1, 1, 1, 1]);
    expect(mails.reduce((sum, each) => sum + each, 0)).toBe(6);
  });

  it('come to the owner, however often a stranger of another network asks for some', async () => {
    const { app, register, sent } = setUp();
    await register(MAILBOX);
    for (let minute = 0; minute < 600; minute += 1) {
      await sent('login-code-request', null, { times: 3 });
      app.clock.advance(MINUTE);
    }
    await sent('login-code-request', null);
    expect(await sent('login-code-request', null, { origin: OWNER })).toBe(1);
  });

  it('are fifty at once and fifty a day for an address, from however many networks, which bounds the guesses', async () => {
    const { app, register, sent } = setUp();
    await app.users.update(await register(MAILBOX), { emailVerifiedAt: 1, now: 1 });
    const count = async () => {
      let mails = 0;
      for (let at = 0; at < 60; at += 1)
        mails += await sent('login-code-request', null, { origin: { ...NO_ORIGIN, address: `10.0.${at}.0/24` } });
      return mails;
    };
    expect(await count()).toBe(50);
    app.clock.advance(DAY);
    expect(await count()).toBe(50);
  });

  it('come to a device on which the owner has logged in, however many networks a stranger has', async () => {
    const { app, register, sent } = setUp();
    await app.users.update(await register(MAILBOX), { emailVerifiedAt: 1, now: 1 });
    await app.login({ account: MAILBOX, password: ADA.password, origin: OWNER });
    for (let at = 0; at < 60; at += 1)
      await sent('login-code-request', null, { origin: { ...NO_ORIGIN, address: `10.0.${at}.0/24` } });
    const elsewhere = { ...OWNER, userAgent: 'another browser' };
    expect(await sent('login-code-request', null, { origin: elsewhere })).toBe(0);
    app.clock.advance(MINUTE);
    expect(await sent('login-code-request', null, { origin: OWNER, times: 2 })).toBe(1);
  });

  it('are counted, also when the store fails before the first is', async () => {
    const { app, register, sent } = setUp();
    await register(MAILBOX);
    await sent('login-code-request', null);
    beforeNextTransaction(app, () => Promise.reject(new Error('down')));
    await sent('login-code-request', null);
    app.clock.advance(10 * SECOND);
    await app.sendAll();
    expect(app.outcomes).toEqual(['sent', 'failed', 'dropped']);
  });
});

describe('the mail to an address that is not verified', () => {
  it('is five links that change an address from one network at once, and five a day, of all accounts', async () => {
    const { app, register, sent } = setUp();
    let mails = 0;
    for (let account = 0; account < 10; account += 1) {
      const id = await register();
      mails += await sent('email-change', id);
      await app.users.remove(id);
    }
    expect(mails).toBe(5);
    for (let time = 0; time < 5; time += 1) {
      app.clock.advance(MAIL_INTERVAL);
      mails += await sent('email-change', await register(), { times: 3 });
    }
    expect(mails).toBe(10);
  });

  it('is at most fifty links to all spellings of a mailbox, from however many networks, and fifty a day', async () => {
    const { app, sent, spellings } = setUp();
    const count = async () => {
      let links = 0;
      for (const [at, { to, userId }] of (await spellings(70)).entries()) {
        const origin = { ...NO_ORIGIN, address: `10.0.${at}.0/24` };
        links += await sent('email-verification', userId, { to, origin });
        links += await sent('password-reset-request', null, { to, origin });
        await app.users.remove(userId);
      }
      return links;
    };
    expect(await count()).toBe(50);
    expect(await count()).toBe(0);
    app.clock.advance(DAY);
    expect(await count()).toBe(50);
  });

  it('is at most 53 resets a day and ten verifications, of however many accounts in turn', async () => {
    const { app, register, sent } = setUp();
    const mails = { resets: 0, verifications: 0 };
    for (let time = 0; time < DAY; time += 10 * MINUTE) {
      const id = await register(MAILBOX);
      mails.resets += await sent('password-reset-request', null);
      mails.verifications += await sent('email-verification', id);
      await app.users.remove(id);
      app.clock.advance(10 * MINUTE);
    }
    expect(mails.resets).toBeLessThanOrEqual(53);
    expect(mails.verifications).toBeLessThanOrEqual(10);
    app.clock.advance(30 * MINUTE);
    await register(MAILBOX);
    expect(await sent('password-reset-request', null)).toBe(1);
  });

  it('is a few notices of all spellings of a mailbox, of which those of a takeover are the most', async () => {
    const { sent, spellings } = setUp();
    let mails = 0;
    for (const { to, userId } of await spellings(20))
      for (const kind of ['address-taken', 'new-device', 'password-changed', 'email-changed'] as const)
        mails += await sent(kind, userId, { to });
    // An address that changed back has no undo any more, which needs no notice.
    expect(mails).toBeLessThanOrEqual(8);
  });

  it('brings the link that takes an account back, whatever other notices its user has caused', async () => {
    const { app, register, sent } = setUp();
    const id = await register(MAILBOX);
    await sent('passkey-added', id, { times: 9 });
    await app.users.update(id, { email: 'stranger@example.org', now: app.clock.now() });
    expect(await sent('email-changed', id)).toBe(1);
  });

  it('is sent by a further attempt, whatever was sent meanwhile', async () => {
    let isDown = true;
    const send = () => (isDown ? Promise.reject(new Error('down')) : Promise.resolve('sent' as const));
    const { app, register, sent } = setUp({ mailer: { send } });
    const id = await register();
    await sent('email-change', id, { times: 5 });
    isDown = false;
    await sent('email-change', id);
    app.clock.advance(DAY);
    expect(app.outcomes).toEqual([...Array(5).fill('failed'), 'dropped']);
    await app.sendAll();
    expect(app.outcomes.slice(6)).toEqual(Array(5).fill('sent'));
  });

  it('is counted for as long as that limits it', async () => {
    const { app, register, sent } = setUp();
    await sent('email-verification', await register(MAILBOX));
    const purge = purges({ ...app, eventsRetention: 0 }).mailboxes;
    app.clock.advance(MAIL_INTERVAL - 1);
    expect(await purge(10)).toBe(0);
    app.clock.advance(1);
    expect(await purge(10)).toBe(1);
  });
});

describe('the notices to the verified address of an account', () => {
  it('are not counted', async () => {
    const { app, register, sent } = setUp();
    const owner = await register(MAILBOX);
    await app.users.update(owner, { emailVerifiedAt: 1, now: 1 });
    expect(await sent('password-changed', owner, { times: 9 })).toBe(9);
  });

  it('arrive after the address was changed, whatever a stranger caused by spellings of the mailbox', async () => {
    const world = setUp();
    const to = 'vic.tim@gmail.com';
    const owner = await world.register(to);
    for (let account = 0; account < 10; account += 1) {
      const spelling = `victim+${account}@gmail.com`;
      await world.sent('email-changed', await world.register(), { to: spelling });
    }
    await world.app.enqueue({ kind: 'email-changed', userId: owner, to: 'v.ictim@gmail.com', wasVerified: true });
    expect(await world.app.sendAll()).toHaveLength(1);
  });
});
