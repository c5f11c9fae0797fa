import type { Origin } from '../../domain/event.ts';
import { isSameCode, LOGIN_CODE_GUESSES } from '../../domain/login-code.ts';
import { newMessage } from '../../domain/message.ts';
import { isAccountName, type User } from '../../domain/user.ts';
import { type AskedCode, codeFor, expiryOf, invalidCode } from '../login-code.ts';
import { findByAccount, openSealed, type Service } from '../service.ts';
import { useOnce } from '../storage/credentials.ts';
import { addMessages } from '../storage/outbox.ts';
import type { Stores } from '../storage/records.ts';
import { reportRefusal } from './open-login.ts';

/** Codes by mail for which a browser has asked: in place of the password, or beside it (ADR 0008). */

/** `account` as it was typed: several may be names of one account, which gets one mail a minute. */
export type BrowserCode = AskedCode & {
  readonly account: string;
  /** Of a code beside a password: what the password was compared with. */
  readonly passwordShown?: string;
};

/** What a browser has asked for: the latest code, and some before it, which stay good until one of them is used. */
export type AskedLogin = { readonly codes: readonly [BrowserCode, ...BrowserCode[]] };

/** So many fit into a cookie. */
const MAX_BROWSER_CODES = 3;

/** Codes in place of a password, and beside one. */
export type CodeKind = 'login-code' | 'new-device-code';

/** @returns a text for the browser. Its length depends on the accounts as they were typed, and not on whether there are such accounts. */
export const seal = ({ secrets }: Service, { codes }: AskedLogin, kind: CodeKind): string =>
  secrets.encrypt(JSON.stringify([`${kind}s`, ...codes.slice(0, MAX_BROWSER_CODES)]), expiryOf(codes[0]));

/**
 * What a browser has asked for last; `null`: nothing, or it has expired.
 * @param texts as the browser presents them. Some may be of others who use the same key or cookie.
 */
export const unseal = (
  deps: Pick<Service, 'secrets' | 'clock'>,
  texts: readonly string[],
  kind: CodeKind,
): AskedLogin | null => {
  const isLive = (code: BrowserCode) => deps.clock.now() < expiryOf(code);
  const [last] = openSealed<AskedLogin['codes']>(deps, texts, `${kind}s`).sort(([a], [b]) => b.askedAt - a.askedAt);
  if (last === undefined) return null;
  const [latest, ...before] = last;
  return { codes: [latest, ...before.filter(isLive)] };
};

type Asking = Pick<BrowserCode, 'account' | 'passwordShown'> & {
  readonly kind: CodeKind;
  /** Of a code beside a password. */
  readonly isPasswordRight?: boolean;
  readonly origin: Origin;
  /** What the browser has asked for before. */
  readonly before: AskedLogin | null;
};

/**
 * Requests a mail with a code. Whether there is such an account is looked up only when the mail is written, so that the response time is the
 * same for every account.
 * @returns a text for the cookie of the browser
 */
export const askForCode = async (
  deps: Service,
  { kind, isPasswordRight = false, origin, before, ...code }: Asking,
): Promise<string> => {
  const { account } = code;
  const [id, askedAt] = [deps.ids.next(), deps.clock.now()];
  const request = { kind: `${kind}-request`, userId: null, to: account, wasVerified: isPasswordRight } as const;
  if (isAccountName(account)) await addMessages(deps, [newMessage(request, { id, at: askedAt, origin })]);
  return seal(deps, { codes: [{ ...code, id, askedAt }, ...(before?.codes ?? [])] }, kind);
};

const NOBODY = { id: '', email: '', passwordChangedAt: 0 };

/**
 * The code that is guessed right. Each guess counts for every code that it is compared with, before it is compared, and as much is done for
 * an account that does not exist. A wrong one is in the history of all users whose codes they are.
 */
export const guessCode = async (deps: Service, { codes }: AskedLogin, typed: string, origin: Origin) => {
  const owners = new Map<string, User | null>();
  for (const { account } of codes) if (!owners.has(account)) owners.set(account, await findByAccount(deps, account));
  const matching: { readonly code: BrowserCode; readonly owner: User }[] = [];
  for (const code of codes) {
    const owner = owners.get(code.account) ?? null;
    const isRight = isSameCode(codeFor(deps, code, owner ?? NOBODY), typed);
    if ((await countGuess(deps, code)) && isRight && owner !== null) matching.push({ code, owner });
  }
  const [found] = matching;
  if (found !== undefined) return found;
  const users = new Map([...owners.values()].flatMap((owner) => (owner === null ? [] : [[owner.id, owner]])));
  return reportRefusal(deps, [...users.values()], origin)(invalidCode('the code is wrong, or was guessed too often'));
};

/** In the store, so that it is counted once for all instances. @returns whether there was a guess left. */
const countGuess = async ({ records }: Pick<Stores, 'records'>, code: AskedCode): Promise<boolean> => {
  for (let guess = 1; guess <= LOGIN_CODE_GUESSES; guess += 1)
    if (await useOnce(records, `login-code ${code.id} guess ${guess}`, expiryOf(code))) return true;
  return false;
};
