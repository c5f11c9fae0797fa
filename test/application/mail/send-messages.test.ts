// Proves network-8, mail-6

import { describe, expect, it } from 'vitest';
import { reserveAddress, reserveUndo } from '../../../src/application/links.ts';
import type { Mail, Mailer } from '../../../src/application/ports/mailer.ts';
import { linkByToken, linksOf } from '../../../src/application/storage/credentials.ts';
import { countEvents, eventsOf } from '../../../src/application/storage/events.ts';
import { waitingMessages } from '../../../src/application/storage/outbox.ts';
import { MESSAGE_KINDS, type MessageKind } from '../../../src/domain/message.ts';
import { ADA, DAY, MINUTE, SECOND } from '../../support/application.ts';
import { applicationWithMail, tokenIn } from '../../support/mail/sender.ts';

const EMAIL = 'ada@example.org';
const OTHER = 'other@example.org';

const setUp = async (mailer?: Mailer) => {
  const app = applicationWithMail(mailer === undefined ? {} : { mailer });
  const { user } = await app.register(ADA);
  const links = () => linksOf(app.records, user.id, app.clock.now());
  const waiting = async () => (await waitingMessages(app.records)).count;
  const ask = () => app.requestPasswordReset(EMAIL);
  const isLive = async (mail: Mail | undefined): Promise<boolean> => {
    const hash = app.secrets.hashOf(tokenIn(mail ?? { text: '' }, 'password-reset'));
    return (await linkByToken(app.records, 'password-reset', hash, app.clock.now())) !== null;
  };
  return { app, user, links, waiting, ask, isLive };
};

/** The address that a message of a kind goes to. */
const RECIPIENTS: Partial<Record<MessageKind, string>> = { 'email-change': OTHER, 'email-changed': OTHER };

/** The links in a message of a kind. */
const LINKS: Partial<Record<MessageKind, readonly string[]>> = {
  'password-reset-request': ['password-reset'],
  'password-reset': ['password-reset'],
  'email-verification-request': ['email-verification', 'not-me'],
  'email-verification': ['email-verification', 'not-me'],
  'email-change': ['email-change'],
  'email-changed': ['email-change-undo'],
  'confirmation-code': ['confirmation-code'],
  'new-device': ['factors-undo'],
  'passkey-added': ['factors-undo'],
  'passkey-removed': ['factors-undo'],
  'identity-linked': ['factors-undo'],
  'identity-unlinked': ['factors-undo'],
  'second-factor-added': ['factors-undo'],
  'second-factor-removed': ['factors-undo'],
  'recovery-codes-made': ['factors-undo'],
};

/** These need more than a user: `take-account-back.test.ts`, `invitations.test.ts` and `notices.test.ts` send them. */
const OTHERS: readonly MessageKind[] = ['email-change-final', 'invitation', 'second-factor-missing'];
const KINDS = MESSAGE_KINDS.filter((kind) => !OTHERS.includes(kind));

it.each([
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox, Windows'],
  ['something of its own', 'something of its own'],
])('a message about a device names %s as %s', async (userAgent, name) => {
  const { app, user } = await setUp();
  const origin = { userAgent, address: null, requestId: null };
  await app.enqueue({ kind: 'new-device', userId: user.id, to: EMAIL }, origin);
  const [mail] = await app.sendAll();
  expect(mail?.text).toContain(`\nDevice: "${name}"\n`);
});

describe.each(KINDS)('a message of the kind %s', (kind) => {
  const to = RECIPIENTS[kind] ?? EMAIL;
  const isAsked = kind.endsWith('-request');

  it('is sent once, with its links', async () => {
    const { app, user, links, waiting } = await setUp();
    if (kind === 'email-changed') await reserveAddress(app, app, { id: user.id, email: to, emailVerifiedAt: 1 });
    const isUndoable = LINKS[kind]?.[0] === 'factors-undo';
    const undo = isUndoable ? { createdAt: await reserveUndo(app, app, { id: user.id, email: to }, []) } : {};
    await app.enqueue({ kind, userId: isAsked ? null : user.id, to, wasVerified: true, ...undo });
    const sent = await app.sendAll();
    expect(sent).toEqual([expect.objectContaining({ to, id: expect.any(String) })]);
    expect((await links()).map(({ purpose, email }) => [purpose, email])).toEqual(
      (LINKS[kind] ?? []).map((purpose) => [purpose, to]),
    );
    for (const { purpose, tokenHash } of await links()) {
      if (purpose === 'confirmation-code') continue;
      expect(app.secrets.hashOf(tokenIn(sent[0] ?? { text: '' }, purpose))).toBe(tokenHash);
    }
    expect(await waiting()).toBe(0);
    expect(await app.sendAll()).toEqual([]);
  });
});

it('messages of every kind are dropped when the user is gone', async () => {
  const { app, user, waiting } = await setUp();
  for (const kind of KINDS)
    for (const userId of [null, user.id]) await app.enqueue({ kind, userId, to: RECIPIENTS[kind] ?? EMAIL });
  await app.users.remove(user.id);
  expect(await app.sendAll()).toEqual([]);
  expect(await waiting()).toBe(0);
});

describe('what is out of date', () => {
  it.each<[MessageKind, object]>([
    ['password-reset', { email: OTHER }],
    ['password-reset', { disabledAt: 1 }],
    ['password-reset-request', { disabledAt: 1 }],
    ['email-verification', { email: OTHER }],
    ['email-verification', { emailVerifiedAt: 1 }],
    ['email-verification', { disabledAt: 1 }],
    ['email-verification-request', { disabledAt: 1 }],
    ['email-verification-request', { emailVerifiedAt: 1 }],
    ['address-taken', { email: OTHER }],
  ])('is not sent: %s after %o', async (kind, change) => {
    const { app, user, links, waiting } = await setUp();
    await app.enqueue({ kind, userId: kind.endsWith('-request') ? null : user.id, to: EMAIL });
    await app.users.update(user.id, { ...change, now: 1 });
    expect(await app.sendAll()).toEqual([]);
    expect(app.outcomes).toEqual(['dropped']);
    expect([await waiting(), await links()]).toEqual([0, []]);
    const events = await eventsOf(app.records, { userId: user.id, before: null, limit: 10 });
    expect(events.map((event) => event.kind)).toEqual(['registered']);
  });

  it('is still sent when it is a notice: an attacker who changed the address must not stop it', async () => {
    const { app, user } = await setUp();
    await app.enqueue({ kind: 'password-changed', userId: user.id, to: EMAIL });
    await app.users.update(user.id, { email: OTHER, now: 1 });
    expect(await app.sendAll()).toMatchObject([{ to: EMAIL }]);
  });
});

describe('a request for a link', () => {
  it('is reported with its origin, and nothing is sent to an address without an account', async () => {
    const { app, user } = await setUp();
    const origin = { userAgent: 'a browser', address: '192.0.2.0/24', requestId: 'r1' };
    await app.requestPasswordReset(' Ada@Example.ORG', origin);
    await app.requestPasswordReset('nobody@example.org', origin);
    expect(await app.sendAll()).toHaveLength(1);
    expect(app.outcomes.toSorted()).toEqual(['dropped', 'sent']);
    const [event] = await eventsOf(app.records, { userId: user.id, before: null, limit: 1 });
    expect(event).toMatchObject({ kind: 'password-reset-requested', ...origin });
  });

  it('is not answered because somebody else has a message sent', async () => {
    const { app, user, ask } = await setUp();
    const lastPolledAt = app.clock.now();
    app.clock.advance(1);
    await ask();
    await app.enqueue({ kind: 'email-change', userId: user.id, to: OTHER });
    await Promise.all(await app.send(10, lastPolledAt));
    expect(app.mails.map(({ to }) => to)).toEqual([OTHER]);
    await Promise.all(await app.send(10, app.clock.now()));
    expect(app.mails.map(({ to }) => to)).toEqual([OTHER, EMAIL]);
  });

  it('does not replace a link that was sent less than five minutes ago', async () => {
    const { app, ask, isLive } = await setUp();
    await ask();
    const [first] = await app.sendAll();
    for (let minute = 0; minute < 5; minute += 1) {
      await ask();
      expect(await app.sendAll()).toEqual([]);
      expect(await isLive(first)).toBe(true);
      app.clock.advance(MINUTE);
    }
    app.clock.advance(1);
    await ask();
    expect(await app.sendAll()).toHaveLength(1);
    expect(await isLive(first)).toBe(false);
  });

  it('leaves the owner of a verified address a live link at any time, however often others ask, and does not fill the mailbox', async () => {
    const { app, user, ask, isLive } = await setUp();
    await app.users.update(user.id, { emailVerifiedAt: 1, now: 1 });
    let last: Mail | undefined;
    let sent = 0;
    for (let minute = 0; minute < DAY / MINUTE; minute += 1) {
      await ask();
      const mails = await app.sendAll();
      sent += mails.length;
      last = mails.at(-1) ?? last;
      expect(await isLive(last)).toBe(true);
      app.clock.advance(MINUTE);
    }
    // Five at first, then one whenever the last is not valid any more.
    expect(sent).toBeLessThanOrEqual(5 + DAY / (30 * MINUTE));
  });

  it('is dropped while the answer to an earlier one is waiting', async () => {
    const { app, ask, waiting } = await setUp({ send: () => Promise.reject(new Error('down')) });
    await ask();
    await Promise.all(await app.send(10));
    app.clock.advance(6 * MINUTE);
    await ask();
    await Promise.all(await app.send(10));
    expect(app.outcomes.toSorted()).toEqual(['dropped', 'failed', 'failed']);
    expect(await waiting()).toBe(1);
  });

  it('gets the answer again with another link when the first attempt failed, and one event', async () => {
    let failures = 1;
    const mails: Mail[] = [];
    const { app, user, ask, isLive } = await setUp({
      send: async (mail) => {
        mails.push(mail);
        if (failures > 0) {
          failures -= 1;
          throw new Error('down');
        }
        return 'sent';
      },
    });
    await ask();
    await Promise.all(await app.send(10));
    app.clock.advance(10 * SECOND);
    await Promise.all(await app.send(10));
    expect(app.outcomes).toEqual(['failed', 'sent']);
    expect(mails.map(({ id }) => id)).toEqual([mails[0]?.id, mails[0]?.id]);
    expect([await isLive(mails[0]), await isLive(mails[1])]).toEqual([false, true]);
    expect(await countEvents(app.records, user.id, 'password-reset-requested', 0)).toBe(1);
  });
});

describe('a message that cannot be sent', () => {
  const down: Mailer = { send: () => Promise.reject(new Error('down')) };

  it('is tried again after ten seconds, then after twice the time, up to an hour', async () => {
    const { app, user } = await setUp(down);
    await app.enqueue({ kind: 'new-device', userId: user.id, to: EMAIL });
    const delays: number[] = [];
    while (delays.length < 12) {
      await Promise.all(await app.send(10));
      let delay = 0;
      while ((await app.send(10).then((attempts) => Promise.all(attempts))).length === 0) {
        app.clock.advance(10 * SECOND);
        delay += 10;
      }
      delays.push(delay);
    }
    expect(delays[0]).toBe(10);
    expect(Math.max(...delays)).toBe(3_600);
  });

  it.each<[MessageKind, number]>([
    ['password-reset', 6 * 60 * MINUTE],
    ['confirmation-code', 10 * MINUTE],
    ['new-device', 2 * DAY],
    ['email-change', 2 * DAY],
  ])('is given up after a time: %s', async (kind, patience) => {
    const { app, user, waiting } = await setUp(down);
    await app.enqueue({ kind, userId: user.id, to: kind === 'email-change' ? OTHER : EMAIL });
    app.clock.advance(patience - 1);
    await Promise.all(await app.send(10));
    expect([app.outcomes, await waiting()]).toEqual([['failed'], 1]);
    app.clock.advance(60 * MINUTE);
    await Promise.all(await app.send(10));
    expect([app.outcomes, await waiting()]).toEqual([['failed', 'given-up'], 0]);
  });

  it('is removed when it is refused for good', async () => {
    const { app, user, waiting } = await setUp({ send: async () => 'refused' });
    await app.enqueue({ kind: 'new-device', userId: user.id, to: EMAIL });
    await Promise.all(await app.send(10));
    expect([app.outcomes, await waiting()]).toEqual([['refused'], 0]);
  });
});
