// Proves theft-7

import { describe, expect, it } from 'vitest';
import { memoryRecords } from '../../../src/adapters/records/memory.ts';
import { confirmEmailChange, requestEmailChange } from '../../../src/application/accounts/change-email.ts';
import { logInWithCode, requestLoginCode } from '../../../src/application/accounts/login-by-code.ts';
import {
  confirmEmail,
  removeUnverifiedAccount,
  takeAccountBack,
} from '../../../src/application/accounts/mail-links.ts';
import { passkeysOf } from '../../../src/application/storage/credentials.ts';
import { eventsOf } from '../../../src/application/storage/events.ts';
import type { Records } from '../../../src/application/storage/records.ts';
import { TABLES, type TableName } from '../../../src/application/storage/tables.ts';
import { newUser, type User } from '../../../src/domain/user.ts';
import { EMAIL, ORIGIN } from '../../support/account.ts';
import { ADA, MINUTE } from '../../support/application.ts';
import { anIdentity } from '../../support/builders.ts';
import { person } from '../../support/takeover/person.ts';
import { type TakeoverWorld, takeoverWorld } from '../../support/takeover/world.ts';

const NEW_EMAIL = 'ada@new.example.org';
const NEW_PASSWORD = 'staple battery';

/** The tables that may keep something of a user whose address is proven for the first time: what happened, and what is still to be said. */
const KEPT: readonly TableName[] = ['events', 'outbox', 'users'];
const ADDED: readonly TableName[] = [
  ...(['factors', 'identities', 'links', 'passkeys', 'recoveryCodes', 'rememberedDevices', 'sessions'] as const),
];
/** Tables that say nothing of a user, or what operators did and other programs are told of what happened. */
const OTHERS: readonly TableName[] = [
  ...(['hourlyCounts', 'operatorEvents'] as const),
  ...(['deliveries', 'endedSessions', 'webhookSequences', 'webhooks'] as const),
  ...(['invitations', 'mailboxes', 'massEndings', 'operations', 'usedValues'] as const),
];

/** What the records keep about a user, by the tables that have something. */
const keptOf = async (records: Records, userId: string) => {
  const rows = [...KEPT, ...ADDED].map(async (name): Promise<[TableName, readonly unknown[]]> => {
    return [name, await records.list(name, { equal: name === 'users' ? { id: userId } : { userId } })];
  });
  return Object.fromEntries((await Promise.all(rows)).filter(([, kept]) => kept.length > 0));
};

/** Somebody has registered with Ada's address, and has added to the account whatever there is. */
const fullAccount = async () => {
  const records = memoryRecords();
  const world = await takeoverWorld({ secondFactor: 'optional', emailVerification: 'optional' }, records);
  const { app, deps, userId, session } = world;
  const stranger = person(world, ADA.username);
  stranger.hold(session);
  await stranger.addPasskey();
  await stranger.addApp();
  await stranger.startApp();
  await app.records.insert('identities', anIdentity({ userId }));
  await stranger.logIn(ADA.password);
  await app.users.update(userId, { locale: 'fr', attributes: { plan: 'gold' }, now: app.clock.now() });
  const request = { ...stranger.request(), password: ADA.password };
  await requestEmailChange(deps)({ ...request, email: 'stranger@example.org' });
  await world.linksOf(EMAIL);
  await requestEmailChange(deps)({ ...request, email: 'stranger@example.net' });
  app.clock.advance(MINUTE);
  const kept = () => keptOf(records, userId);
  const added = async () =>
    Object.keys(await kept())
      .filter((name) => !KEPT.some((each) => each === name))
      .toSorted();
  // A new table has to be named above, and filled here if it says something of a user.
  expect(Object.keys(TABLES).toSorted()).toEqual([...ADDED, ...KEPT, ...OTHERS].toSorted());
  return { world, stranger, added, kept };
};

const linkTo = async (
  { app, userId, linksOf }: TakeoverWorld,
  kind: 'email-verification' | 'password-reset' | 'email-change',
  to = EMAIL,
) => {
  await app.enqueue({ kind, userId, to });
  return (await linksOf(to)).findLast(({ purpose }) => purpose === kind)?.token ?? expect.unreachable(kind);
};

/** What proves an address without a session of the account. */
const PROOFS: Readonly<Record<string, (world: TakeoverWorld) => Promise<unknown>>> = {
  'a reset': async (world) =>
    world.app.resetPassword({
      token: await linkTo(world, 'password-reset'),
      newPassword: NEW_PASSWORD,
      locales: ['de'],
    }),
  'a verification': async (world) =>
    confirmEmail(world.deps)({ token: await linkTo(world, 'email-verification'), locales: ['de'], origin: ORIGIN }),
  'a changed address that the password confirms': async (world) => {
    const token = await linkTo(world, 'email-change', NEW_EMAIL);
    await confirmEmailChange(world.deps)({ token, password: ADA.password, locales: ['de'] });
  },
  'a code by mail': async (world) => {
    const asked = [await requestLoginCode(world.deps)({ account: EMAIL })];
    const [, code = ''] = /^(\d{8})$/m.exec((await world.app.sendAll()).map(({ text }) => text).join('\n')) ?? [];
    await logInWithCode(world.deps)({ code, asked, locales: ['de'], origin: ORIGIN });
  },
  'the link of a mail about factors': async (world) => {
    const link = (await world.linksOf(EMAIL)).findLast(({ purpose }) => purpose === 'factors-undo');
    await takeAccountBack(world.deps, 'factors-undo')({ token: link?.token ?? '', locales: ['de'] });
  },
};

/** What a proof leaves, or makes itself. */
const LEFT: Readonly<Record<string, readonly TableName[]>> = {
  // The link of a former address is its owner's way, and undoes everything, too.
  'a changed address that the password confirms': ['links'],
  // Of the log-in, which the mail about it can undo.
  'a code by mail': ['links', 'sessions'],
};

/** The fields of a user that stay, or are set by the proof. All others are those of a new user. */
const FIELDS: readonly (keyof User)[] = [
  ...(['id', 'username', 'email', 'emailVerifiedAt', 'passwordHash', 'passwordChangedAt'] as const),
  ...(['createdAt', 'updatedAt', 'attributes', 'locale', 'removedIdentities'] as const),
];

describe.each(Object.entries(PROOFS))('the first proof of an address by %s', (name, prove) => {
  it('leaves nothing in any store that was added before', async () => {
    const { world, added } = await fullAccount();
    expect(await added()).toEqual(ADDED);
    await prove(world);
    expect(await added()).toEqual(LEFT[name] ?? []);
    const user = (await world.stored()) ?? expect.unreachable();
    const fresh = newUser({ id: '', username: '', email: '', passwordHash: '', now: 0 });
    for (const field of Object.keys(fresh) as (keyof User)[])
      if (!FIELDS.includes(field)) expect([field, user[field]]).toEqual([field, fresh[field]]);
    expect(user).toMatchObject({ locale: 'de', attributes: { plan: 'gold' }, emailVerifiedAt: world.app.clock.now() });
  });

  it('says so in the events', async () => {
    const { world } = await fullAccount();
    const { sessions, records } = world.app;
    const open = await sessions.listByUser(world.userId, world.app.clock.now());
    await prove(world);
    const happened = await eventsOf(records, { userId: world.userId, before: null, limit: 100 });
    const count = (kind: string) => happened.filter((event) => event.kind === kind).length;
    expect([count('passkey-removed'), count('second-factor-removed')]).toEqual([1, 1]);
    expect(count('session-ended')).toBeGreaterThanOrEqual(open.length);
  });
});

describe('somebody who has both, a session of the account and the mailbox', () => {
  const open = async () => {
    const { world, stranger: ada, added } = await fullAccount();
    return { world, ada, added };
  };

  it('verifies the address, and keeps everything', async () => {
    const { world, ada, added } = await open();
    const token = await linkTo(world, 'email-verification');
    await confirmEmail(world.deps)({ token, refreshTokens: ada.tokens });
    expect(await added()).toEqual(ADDED);
    expect(await world.stored()).toMatchObject({ locale: 'fr', emailVerifiedAt: world.app.clock.now() });
  });

  it('changes the address, and keeps everything', async () => {
    const { world, ada } = await open();
    const token = await linkTo(world, 'email-change', NEW_EMAIL);
    const session = { id: ada.caller().sessionId, userId: world.userId };
    await confirmEmailChange(world.deps)({ token, session });
    expect(await world.stored()).toMatchObject({ email: NEW_EMAIL, locale: 'fr', secondFactorAt: expect.any(Number) });
    expect(await passkeysOf(world.app.records, world.userId)).toHaveLength(1);
  });

  it.each(['another user', 'a session that has ended'])('is not whoever shows the cookie of %s', async (whose) => {
    const { world, ada, added } = await open();
    const token = await linkTo(world, 'email-verification');
    const bob = await world.app.register({ username: 'Bob', email: 'bob@example.org', password: 'staple battery' });
    if (whose !== 'another user') await world.app.logout(ada.tokens);
    const refreshTokens = whose === 'another user' ? [bob.refreshToken] : ada.tokens;
    await confirmEmail(world.deps)({ token, refreshTokens });
    expect(await added()).toEqual([]);
  });
});

it('“I did not register” removes an account to which a stranger has added whatever there is', async () => {
  const { world, kept } = await fullAccount();
  const { app, userId } = world;
  await app.enqueue({ kind: 'email-verification', userId, to: EMAIL });
  const link = (await world.linksOf(EMAIL)).findLast(({ purpose }) => purpose === 'not-me');
  await removeUnverifiedAccount(world.deps)(link?.token ?? '');
  expect(await kept()).toEqual({});
});
