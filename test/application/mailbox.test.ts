import { describe, expect, it } from 'vitest';
import { purges } from '../../src/application/use-cases/purge.ts';
import { MAIL_INTERVAL, type MessageKind } from '../../src/domain/message.ts';
import { ADA, DAY } from '../support/application.ts';
import { applicationWithMail } from '../support/mail/sender.ts';

const MAILBOX = 'victim@example.org';

const setUp = (given: Parameters<typeof applicationWithMail>[0] = {}) => {
  const app = applicationWithMail(given);
  let registered = 0;
  const register = async (email = `user${registered}@example.org`) => {
    registered += 1;
    return (await app.register({ ...ADA, username: `user${registered}`, email })).user.id;
  };
  /** How many of so many messages are sent. */
  const sent = async (kind: MessageKind, userId: string, times = 1) => {
    for (let time = 0; time < times; time += 1) await app.enqueue({ kind, userId, to: MAILBOX });
    return (await app.sendAll()).length;
  };
  return { app, register, sent };
};

describe('the mail to an address that is not verified', () => {
  // Proves: mail-6
  it('is two at once and five a day, of all accounts', async () => {
    const { app, register, sent } = setUp();
    let mails = 0;
    for (let account = 0; account < 10; account += 1) {
      const id = await register();
      mails += await sent('email-change', id);
      await app.users.remove(id);
    }
    expect(mails).toBe(2);
    for (let time = 0; time < 5; time += 1) {
      app.clock.advance(MAIL_INTERVAL);
      mails += await sent('email-change', await register(), 3);
    }
    expect(mails).toBe(7);
  });

  // Proves: mail-6
  it('is not used up for an account that has it by what others can have sent to it', async () => {
    const { register, sent } = setUp();
    const [owner, other] = [await register(MAILBOX), await register()];
    expect(await sent('email-change', other, 9)).toBe(2);
    expect(await sent('email-verification', owner, 9)).toBe(1);
    expect(await sent('password-reset', owner, 9)).toBe(1);
    expect(await sent('password-changed', owner, 9)).toBe(2);
  });

  it('is sent by a further attempt, whatever was sent meanwhile', async () => {
    let isDown = true;
    const send = () => (isDown ? Promise.reject(new Error('down')) : Promise.resolve('sent' as const));
    const { app, register, sent } = setUp({ mailer: { send } });
    const id = await register();
    await sent('email-change', id, 2);
    isDown = false;
    await sent('email-change', id);
    app.clock.advance(DAY);
    await sent('email-change', id);
    expect(app.outcomes).toEqual(['failed', 'failed', 'dropped', 'sent', 'sent', 'sent']);
  });

  it('is counted for as long as that limits it', async () => {
    const { app, register, sent } = setUp();
    await sent('email-change', await register());
    const purge = purges({ ...app, eventsRetention: 0 }).mailboxes;
    app.clock.advance(MAIL_INTERVAL - 1);
    expect(await purge(10)).toBe(0);
    app.clock.advance(1);
    expect(await purge(10)).toBe(1);
  });
});

describe('the mail to the verified address of an account', () => {
  it('is not counted', async () => {
    const { app, register, sent } = setUp();
    const [owner, other] = [await register(MAILBOX), await register()];
    await app.users.update(owner, { emailVerifiedAt: 1, now: 1 });
    await sent('email-change', other, 9);
    expect(await sent('password-changed', owner, 9)).toBe(9);
    expect(await sent('email-change', other)).toBe(0);
  });
});
