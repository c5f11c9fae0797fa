import { describe, expect, it } from 'vitest';
import { fixedClock } from '../../src/adapters/clock/fixed.ts';
import { ACCOUNTS_AT_ONCE, FURTHER_ACCOUNT, mailboxLimit } from '../../src/application/steps/mailbox-limit.ts';
import type { MessageKind } from '../../src/domain/message.ts';
import { ADA, DAY } from '../support/application.ts';
import { applicationWithMail } from '../support/mail/sender.ts';

const MAILBOX = 'victim@example.org';

const setUp = () => {
  const app = applicationWithMail();
  let registered = 0;
  const register = async (email: string) => {
    registered += 1;
    return (await app.register({ ...ADA, username: `user${registered}`, email })).user;
  };
  /** How many mails a message leads to. */
  const sent = async (kind: MessageKind, userId: string, to = MAILBOX) => {
    await app.tell({ kind, userId, to });
    return (await app.sendAll()).length;
  };
  /** Registers with the address of somebody else, and deletes the account when the mail has left. */
  const comeAndGo = async () => {
    const { id } = await register(MAILBOX);
    const mails = await sent('email-verification', id);
    await app.users.remove(id);
    return mails;
  };
  const askForChange = async () => sent('email-change', (await register(`user${registered}@example.org`)).id);
  const repeated = async (times: number, work: () => Promise<number>) => {
    let mails = 0;
    for (let time = 0; time < times; time += 1) mails += await work();
    return mails;
  };
  return { app, register, sent, comeAndGo, askForChange, repeated };
};

describe('the mail to an address that is not proven', () => {
  // Proves: mail-6
  it('is that of five accounts at once, and of one more an hour later', async () => {
    const { app, comeAndGo, repeated } = setUp();
    expect(await repeated(10, comeAndGo)).toBe(ACCOUNTS_AT_ONCE);
    app.clock.advance(FURTHER_ACCOUNT - 1);
    expect(await comeAndGo()).toBe(0);
    app.clock.advance(1);
    expect(await repeated(3, comeAndGo)).toBe(1);
    app.clock.advance(DAY);
    expect(await repeated(10, comeAndGo)).toBe(ACCOUNTS_AT_ONCE);
  });

  // Proves: mail-6
  it('is limited in the same way when many accounts ask for a change to it', async () => {
    const { askForChange, repeated } = setUp();
    expect(await repeated(10, askForChange)).toBe(ACCOUNTS_AT_ONCE);
  });

  it('is not withheld from the account that has it because others ask for a change to it', async () => {
    const { register, sent, askForChange, repeated } = setUp();
    const { id } = await register(MAILBOX);
    await repeated(10, askForChange);
    for (const kind of ['email-verification', 'password-changed', 'password-reset'] as const)
      expect(await sent(kind, id)).toBe(1);
  });

  it('is sent in any number to an account that was admitted: it has limits of its own', async () => {
    const { register, sent, comeAndGo, repeated } = setUp();
    await repeated(ACCOUNTS_AT_ONCE - 1, comeAndGo);
    const { id } = await register(MAILBOX);
    expect(await repeated(10, () => sent('password-changed', id))).toBe(10);
  });
});

describe('without a limit', () => {
  it('is the mail to an address that is proven', async () => {
    const { app, register, sent, comeAndGo, repeated } = setUp();
    await repeated(10, comeAndGo);
    const { id } = await register(MAILBOX);
    expect(await sent('password-changed', id)).toBe(0);
    await app.users.update(id, { emailVerifiedAt: 1, now: 1 });
    expect(await sent('password-changed', id)).toBe(1);
  });

  it('is what a former address is told: of a takeover, its owner has to learn', async () => {
    const { app, register, sent, comeAndGo, repeated } = setUp();
    await repeated(10, comeAndGo);
    const { id } = await register(MAILBOX);
    await app.users.update(id, { email: 'new@example.org', now: 1 });
    for (const kind of ['email-changed', 'password-changed'] as const) expect(await sent(kind, id)).toBe(1);
  });
});

describe('what is remembered', () => {
  const admitting = (capacity?: number) => {
    const clock = fixedClock(0);
    const limit = mailboxLimit(clock, capacity);
    /** How many of so many further accounts with the address are admitted. */
    const admitted = (to: string, accounts: number) =>
      Array.from({ length: accounts }, () => limit(to, { id: crypto.randomUUID(), email: to })).filter(Boolean).length;
    return { clock, admitted };
  };

  it('is a bounded number of addresses: the one that had its latest account first is forgotten', () => {
    const { admitted } = admitting(2);
    expect(admitted('a', 10)).toBe(ACCOUNTS_AT_ONCE);
    expect(admitted('b', 1)).toBe(1);
    expect(admitted('c', 1)).toBe(1);
    expect(admitted('b', 10)).toBe(ACCOUNTS_AT_ONCE - 1);
    expect(admitted('a', 10)).toBe(ACCOUNTS_AT_ONCE);
  });

  it('is forgotten when the clock is set back', () => {
    const { clock, admitted } = admitting();
    admitted('a', 10);
    clock.advance(-1);
    expect(admitted('a', 10)).toBe(ACCOUNTS_AT_ONCE);
  });
});
