import { join } from 'node:path';
import { expect } from 'vitest';
import { randomSecrets } from '../../../src/adapters/crypto/secrets.ts';
import { ulidGenerator } from '../../../src/adapters/crypto/ulid.ts';
import { openDatabase } from '../../../src/adapters/mikro-orm/open-database.ts';
import { storesOver } from '../../../src/adapters/records/storage.ts';
import { reserveAddress } from '../../../src/application/links.ts';
import { INVITATION_LIFETIME } from '../../../src/domain/invitation.ts';
import { isRequest, MESSAGE_KINDS, type MessageKind } from '../../../src/domain/message.ts';
import { aMessage, anInvitation } from '../builders.ts';
import { openSmtpServer } from '../mail/smtp-server.ts';
import { onSqlite } from '../storage/databases.ts';
import { openBoundSession } from './bound-session.ts';
import { runHere } from './commands.ts';
import { type RunningService, runService } from './process.ts';
import { type Holder, postJson, signUpAt } from './sessions-under-load.ts';

const ADA = { username: 'ada', email: 'ada@example.org', password: 'correct horse battery' };
const BOB = { username: 'bob', email: 'bob@example.org', password: 'correct horse battery' };
/** Somebody whose address is verified: a mailbox that is not gets few mails at once. */
const DAN = { username: 'dan', email: 'dan@example.org', password: 'correct horse battery' };
/** Somebody who asked for links. A request is dropped while an answer to the same user waits. */
const CORA = { username: 'cora', email: 'cora@example.org', password: 'correct horse battery' };
/** Addresses without an account. */
const OTHER = 'other@example.org';
const INVITED = 'eve@example.org';
const TO: Partial<Record<MessageKind, string>> = { 'email-change': OTHER, 'email-changed': OTHER };

/** Only catches what hangs. Milliseconds. */
const PATIENCE = { timeout: 60_000 };

/** Proofs are made for it, wherever the service runs. */
const BASE_URL = 'http://auth.example.org';

/** What is in a database besides rows that can be counted: sessions, a link that was mailed, mail of every kind that waits. */
export type StoredAccounts = {
  readonly ada: Holder;
  readonly bob: Holder;
  /** A session with a key of its device. */
  readonly bound: Awaited<ReturnType<typeof openBoundSession>>;
  /** Of the link for a new password that was mailed to Ada. */
  readonly token: string;
  /** What the command `users` says about Ada's events. */
  readonly events: string;
  /** How many mails to others wait. */
  readonly waiting: number;
};

type Env = Readonly<Record<string, string>>;
type MailLine = { readonly msg: string; readonly links: readonly string[] };

/** Ada has refreshed and was mailed a link; mail of every kind waits for others. The service has ended. */
export const storeAccounts = async (dataDir: string): Promise<StoredAccounts> => {
  const service = await runService({ DATA_DIR: dataDir, BCRYPT_COST: '4', BASE_URL });
  try {
    const ada = await signUpAt(service.url, ADA);
    const bob = await signUpAt(service.url, BOB);
    const dan = await signUpAt(service.url, DAN);
    await signUpAt(service.url, CORA);
    await ada.refresh(service.url);
    const bound = await openBoundSession(service.url, BASE_URL);
    await postJson(`${service.url}/auth/password-reset`, { email: ADA.email });
    // Five for the addresses, one with the link for a new password.
    await expect.poll(() => mailed(service).length, PATIENCE).toBe(6);
    const [token = ''] = mailed(service).flatMap(({ links }) =>
      links.flatMap((link) => /\/password-reset#token=(.+)$/.exec(link)?.[1] ?? []),
    );
    await service.stop();
    const waiting = await addMailOfEveryKind(dataDir, { bob: bob.userId, dan: dan.userId });
    return { ada, bob, bound, token, waiting, events: await eventsOfAda({ DATA_DIR: dataDir }) };
  } finally {
    await service.stop('SIGKILL');
  }
};

const mailed = ({ stdout }: RunningService): MailLine[] =>
  stdout.map((line): MailLine => JSON.parse(line)).filter(({ msg }) => msg === 'A mail was written to a file');

const addMailOfEveryKind = async (dataDir: string, { bob, dan }: { bob: string; dan: string }): Promise<number> => {
  const { records, close } = await openDatabase(onSqlite(join(dataDir, 'database.sqlite')), { migrate: true });
  const ids = ulidGenerator({ now: Date.now });
  const messages = MESSAGE_KINDS.map((kind) => {
    const about = { id: ids.next(), kind, createdAt: Date.now() };
    if (isRequest(about)) return aMessage({ ...about, userId: null, to: CORA.email });
    if (kind === 'invitation') return aMessage({ ...about, userId: null, to: INVITED });
    if (kind === 'email-verification') return aMessage({ ...about, userId: bob, to: BOB.email });
    return aMessage({ ...about, userId: dan, to: TO[kind] ?? DAN.email });
  });
  const stores = storesOver(records);
  try {
    await stores.users.update(dan, { emailVerifiedAt: 1, now: Date.now() });
    await reserveAddress({ secrets: randomSecrets, clock: { now: Date.now } }, stores, {
      id: dan,
      email: OTHER,
      emailVerifiedAt: 1,
    });
    for (const { kind, to: email, createdAt } of messages)
      if (kind === 'invitation')
        await stores.invitations.put(anInvitation({ email, createdAt, expiresAt: createdAt + INVITATION_LIFETIME }));
    await stores.outbox.add(messages);
  } finally {
    await close();
  }
  return messages.length;
};

const eventsOfAda = async (env: Env): Promise<string> => {
  const { status, stdout, stderr } = await runHere(['users', 'events', 'ada', '--json'], env);
  if (status !== 0) throw new Error(stderr);
  return stdout;
};

/** Refreshes a session with the database that `env` selects. */
export const refreshWith = async (holder: Holder, env: Env): Promise<number> => {
  const service = await runService({ ...env, BASE_URL });
  try {
    return (await holder.refresh(service.url)).status;
  } finally {
    await service.stop();
  }
};

/** What becomes of these accounts in the database that `env` selects. */
export const useAccounts = async ({ ada, bound, token, waiting }: StoredAccounts, env: Env) => {
  const events = await eventsOfAda(env);
  const mailServer = await openSmtpServer();
  const mail = { MAIL_URL: `smtp://127.0.0.1:${mailServer.port}`, MAIL_FROM: 'auth@example.org' };
  const service = await runService({ ...env, ...mail, BASE_URL });
  try {
    const { status: refreshed } = await ada.refresh(service.url);
    const answersToBound = await bound.answersAt(service.url);
    const reset = async () => {
      const body = { token, newPassword: 'another horse battery' };
      return (await postJson(`${service.url}/auth/password-reset/confirm`, body)).status;
    };
    const resets = [await reset(), await reset()];
    const toOthers = () => mailServer.messages.filter(({ recipients }) => !recipients.includes(ADA.email)).length;
    await expect.poll(toOthers, PATIENCE).toBe(waiting);
    return { events, refreshed, answersToBound, resets };
  } finally {
    await service.stop();
    await mailServer.close();
  }
};
