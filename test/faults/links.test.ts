import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { LinkPurpose } from '../../src/domain/link.ts';
import { tokenIn } from '../support/mail/sender.ts';
import {
  type Account,
  accountAt,
  type KillableService,
  SOON,
  startKillable,
  type Victim,
} from '../support/processes/killable-service.ts';
import { ask, postJson } from '../support/processes/sessions-under-load.ts';
import { canStartServers } from '../support/servers/of-the-tests.ts';

const NEW_PASSWORD = 'a new correct horse';

let service: KillableService;

const post = (path: string, body: object) => postJson(service.url() + path, body);
const logIn = async (account: string, password: string) => (await post('/auth/login', { account, password })).status;
const refresh = (cookie = '') =>
  ask(`${service.url()}/auth/refresh-token`, { method: 'POST', headers: { Cookie: cookie } });

/** The token of the latest link of a purpose in the mails to an address. */
const tokenTo = async (address: string, purpose: LinkPurpose): Promise<string> => {
  await service.untilSent();
  const mails = await service.mailsTo(address);
  const mail = mails.findLast(({ text }) => text.includes(`/${purpose}#token=`));
  return tokenIn(mail ?? { text: '' }, purpose);
};

const passwordOf = ({ password }: Account) => ({ password });
const newAddressOf = ({ email }: Account) => `new.${email}`;

const askForNewAddress = async (account: Account): Promise<string> => {
  const { status } = await ask(`${service.url()}/users/me/email`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${account.accessToken}` },
    body: JSON.stringify({ email: newAddressOf(account), password: account.password }),
  });
  expect(status).toBe(202);
  return tokenTo(newAddressOf(account), 'email-change');
};

const isMailed = (address: string, words: string) =>
  vi.waitFor(async () => {
    const texts = (await service.mailsTo(address)).map(({ subject, text }) => `${subject}\n${text}`);
    expect(texts.filter((text) => text.includes(words))).toHaveLength(1);
  }, SOON);

type Use = {
  readonly path: string;
  /** What the request has besides the token. */
  readonly body?: (account: Account) => object;
  /** The tables that it changes, the last one at the end. */
  readonly tables: readonly string[];
  /** @returns the token of the link that the mail brings. */
  readonly linkFor: (account: Account) => Promise<string>;
  /** What holds once it has succeeded. @param cookie of a session that was opened before. */
  readonly assertDone: (account: Account, cookie: string | undefined) => Promise<void>;
};

/** What is there and goes when an address is proven for the first time, and when the account is taken back. */
const ADDED = ['sessions', 'ended_sessions'];

const USES: Readonly<Record<string, Use>> = {
  'sets a new password': {
    path: '/auth/password-reset/confirm',
    body: () => ({ newPassword: NEW_PASSWORD }),
    tables: ['links', 'users', 'events', ...ADDED, 'outbox'],
    linkFor: async ({ email }) => {
      expect((await post('/auth/password-reset', { email })).status).toBe(202);
      return tokenTo(email, 'password-reset');
    },
    assertDone: async ({ email, password }, cookie) => {
      expect((await refresh(cookie)).code).toBe('AUTH_FAILED');
      expect(await logIn(email, password)).toBe(401);
      expect(await logIn(email, NEW_PASSWORD)).toBe(200);
      await isMailed(email, 'was reset');
    },
  },
  'verifies an address': {
    path: '/auth/email-verification/confirm',
    tables: ['users', 'links', 'events', ...ADDED],
    linkFor: ({ email }) => tokenTo(email, 'email-verification'),
    assertDone: async ({ id, email }, cookie) => {
      const kinds = 'select kind from events where user_id = ? and kind = ?';
      expect(await service.query(kinds, [id, 'email-verified'])).toHaveLength(1);
      const notMe = await post('/auth/email-verification/not-me', { token: await tokenTo(email, 'not-me') });
      expect(notMe.code).toBe('AUTH_LINK_INVALID');
      expect((await refresh(cookie)).code).toBe('AUTH_FAILED');
    },
  },
  'removes an account of somebody else': {
    path: '/auth/email-verification/not-me',
    // Whatever is the user's goes with the user.
    tables: [...ADDED, 'users', 'links', 'events', 'passkeys', 'recovery_codes', 'remembered_devices', 'outbox'],
    linkFor: ({ email }) => tokenTo(email, 'not-me'),
    assertDone: async ({ id, email, password }, cookie) => {
      expect(await service.aboutUser(id)).toEqual([]);
      expect((await refresh(cookie)).code).toBe('AUTH_FAILED');
      expect(await logIn(email, password)).toBe(401);
    },
  },
  'changes an address': {
    path: '/auth/email-change/confirm',
    body: passwordOf,
    tables: ['users', 'links', 'events', 'outbox', ...ADDED],
    linkFor: askForNewAddress,
    assertDone: async (account, cookie) => {
      expect(await logIn(newAddressOf(account), account.password)).toBe(200);
      expect(await logIn(account.email, account.password)).toBe(401);
      expect((await refresh(cookie)).code).toBe('AUTH_FAILED');
      await isMailed(account.email, '/email-change-undo#token=');
    },
  },
  'restores an address': {
    path: '/auth/email-change/undo',
    tables: ['users', 'links', 'events', ...ADDED, 'outbox'],
    linkFor: async (account) => {
      // The change of an address that was never verified would end the session.
      await service.query('update users set email_verified_at = 1 where id = ?', [account.id]);
      const token = await askForNewAddress(account);
      expect((await post('/auth/email-change/confirm', { token, ...passwordOf(account) })).status).toBe(200);
      return tokenTo(account.email, 'email-change-undo');
    },
    assertDone: async (account, cookie) => {
      expect((await refresh(cookie)).code).toBe('AUTH_FAILED');
      expect(await logIn(newAddressOf(account), account.password)).toBe(401);
      await isMailed(account.email, '/password-reset#token=');
      const token = await tokenTo(account.email, 'password-reset');
      expect((await post('/auth/password-reset/confirm', { token, newPassword: NEW_PASSWORD })).status).toBe(200);
      expect(await logIn(account.email, NEW_PASSWORD)).toBe(200);
    },
  },
};

/**
 * Each use with a PostgreSQL that is killed. A killed process leaves the same transaction behind, whatever is in it: the use that changes
 * the most tables stands for the others.
 */
const CASES: readonly { readonly victim: Victim; readonly what: string }[] = [
  ...Object.keys(USES).map((what) => ({ victim: 'postgresql' as const, what })),
  { victim: 'process', what: 'sets a new password' },
];

describe.runIf(canStartServers())('a link', () => {
  beforeAll(async () => {
    service = await startKillable();
  });
  afterAll(() => service?.close());

  it.each(CASES)(
    'that $what has changed nothing when the $victim ends before the commit, and works once',
    async ({ victim, what }) => {
      const { path, body, tables, linkFor, assertDone } = USES[what] ?? expect.unreachable();
      const account = await accountAt(service.url());
      const token = await linkFor(account);
      const request = () => post(path, { token, ...body?.(account) });
      await service.untilSent();
      const before = await service.aboutUser(account.id);

      const answer = await service.interrupt(tables, request, () => service.kill(victim));
      expect(answer?.code).toBe(victim === 'postgresql' ? 'DB_QUERY_FAILED' : undefined);
      await service.restart(victim);

      expect(await service.aboutUser(account.id)).toEqual(before);
      const refreshed = await refresh(account.cookie);
      expect(refreshed.status).toBe(200);
      expect((await request()).status).toBe(200);
      expect((await request()).code).toBe('AUTH_LINK_INVALID');
      await assertDone(account, refreshed.cookie);
    },
  );
});
