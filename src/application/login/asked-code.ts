import type { Origin } from '../../domain/event.ts';
import { isSameCode, LOGIN_CODE_GUESSES } from '../../domain/login-code.ts';
import { newMessage } from '../../domain/message.ts';
import { isAccountName, type User } from '../../domain/user.ts';
import { type AskedCode, codeFor, expiryOf, invalidCode } from '../login-code.ts';
import { findByAccount, type Service, unsealTexts } from '../service.ts';
import { useOnce } from '../storage/credentials.ts';
import { addMessages } from '../storage/outbox.ts';
import type { Stores } from '../storage/records.ts';
import { reportRefusal } from './open-login.ts';

/** A code by mail that a browser has asked for, in place of the password or with it (ADR 0008). */
export type BrowserCode = AskedCode & {
  /** The username or the email that was typed, in canonical form. */
  readonly account: string;
  /** Only of a code after a password: a hash of the account's state if the password was right, or else a random text. */
  readonly passwordShown?: string;
};

/** The codes that a browser has asked for, the latest first. */
export type AskedCodes = readonly [BrowserCode, ...BrowserCode[]];

const MAX_BROWSER_CODES = 3;

/** A code in place of a password, or after a password on a new device. */
type CodeKind = 'login-code' | 'new-device-code';

/** @returns a text for a cookie, whose length does not show whether the accounts exist. */
export const sealCodes = ({ secrets }: Service, codes: AskedCodes, kind: CodeKind): string =>
  secrets.encrypt(JSON.stringify([`${kind}s`, ...codes.slice(0, MAX_BROWSER_CODES)]), expiryOf(codes[0]));

/** The live codes in the latest of the texts that a browser presents; `null` if there are none. */
export const unsealCodes = (deps: Pick<Service, 'secrets' | 'clock'>, texts: readonly string[], kind: CodeKind) => {
  const isLive = (code: BrowserCode) => deps.clock.now() < expiryOf(code);
  const [last] = unsealTexts<AskedCodes>(deps, texts, `${kind}s`).sort(([a], [b]) => b.askedAt - a.askedAt);
  if (last === undefined) return null;
  const [latest, ...before] = last;
  return [latest, ...before.filter(isLive)] satisfies AskedCodes;
};

type CodeRequest = Pick<BrowserCode, 'account' | 'passwordShown'> & {
  readonly kind: CodeKind;
  /** Only of a code after a password. */
  readonly isPasswordRight?: boolean;
  readonly origin: Origin;
  readonly before: AskedCodes | null;
};

/**
 * Requests a mail with a code. Whether there is such an account is not looked up here, but when the mail is written.
 * @returns a text for the cookie of the browser
 */
export const askForCode = async (
  deps: Service,
  { kind, isPasswordRight = false, origin, before, ...code }: CodeRequest,
): Promise<string> => {
  const { account } = code;
  const [id, askedAt] = [deps.ids.next(), deps.clock.now()];
  const request = { kind: `${kind}-request`, userId: null, to: account, wasVerified: isPasswordRight } as const;
  if (isAccountName(account)) await addMessages(deps, [newMessage(request, { id, at: askedAt, origin })]);
  return sealCodes(deps, [{ ...code, id, askedAt }, ...(before ?? [])], kind);
};

const UNKNOWN_OWNER = { id: '', email: '', passwordChangedAt: 0 };

/**
 * Finds the code that the user has typed. Each guess counts for every code that it is compared with, and is compared with as many for an account that
 * does not exist. A wrong guess is recorded for the owners of all these codes.
 */
export const guessCode = async (deps: Service, codes: AskedCodes, typed: string, origin: Origin) => {
  const owners = new Map<string, User | null>();
  for (const { account } of codes) if (!owners.has(account)) owners.set(account, await findByAccount(deps, account));
  const matching: { readonly code: BrowserCode; readonly owner: User }[] = [];
  for (const code of codes) {
    const owner = owners.get(code.account) ?? null;
    const isRight = isSameCode(codeFor(deps, code, owner ?? UNKNOWN_OWNER), typed);
    if ((await countGuess(deps, code)) && isRight && owner !== null) matching.push({ code, owner });
  }
  const [found] = matching;
  if (found !== undefined) return found;
  const users = new Map([...owners.values()].flatMap((owner) => (owner === null ? [] : [[owner.id, owner]])));
  return reportRefusal(deps, [...users.values()], origin)(invalidCode('the code is wrong, or was guessed too often'));
};

/** Counts a guess in the store, for all instances together. @returns whether a guess was left. */
const countGuess = async ({ records }: Pick<Stores, 'records'>, code: AskedCode): Promise<boolean> => {
  for (let guess = 1; guess <= LOGIN_CODE_GUESSES; guess += 1)
    if (await useOnce(records, `login-code ${code.id} guess ${guess}`, expiryOf(code))) return true;
  return false;
};
