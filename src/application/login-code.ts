import { AppError } from '../domain/errors/app-error.ts';
import { isSameCode, LOGIN_CODE_GUESSES, LOGIN_CODE_LIFETIME, loginCodeOf } from '../domain/login-code.ts';
import type { User } from '../domain/user.ts';
import type { Secrets } from './ports/secrets.ts';
import type { Service } from './service.ts';
import { useOnce } from './storage/credentials.ts';
import type { Stores } from './storage/records.ts';

/** A code that was asked for. `id` is that of the message that sends it. */
export type AskedCode = { readonly id: string; readonly askedAt: number };

/** `account` as it was typed: several may be names of one account, which gets one mail a minute. */
export type BrowserCode = AskedCode & {
  readonly account: string;
  /** Of a code beside a password (`new-device-code.ts`). */
  readonly passwordShown?: string;
};

/** What a browser has asked for: the latest code, and some before it, which stay good until one of them is used. */
export type AskedLogin = { readonly codes: readonly [BrowserCode, ...BrowserCode[]] };

/** So many fit into a cookie. */
const MAX_BROWSER_CODES = 3;

const KIND = 'login-code';
/** Codes in place of a password, and beside one. */
type Sealed = 'login-codes' | 'new-device-codes';

/** @returns a text for the browser. Its length depends on the accounts as they were typed, and not on whether there are such accounts. */
export const seal = (
  { secrets }: Pick<Service, 'secrets'>,
  { codes }: AskedLogin,
  what: Sealed = 'login-codes',
): string => secrets.encrypt(JSON.stringify([what, ...codes.slice(0, MAX_BROWSER_CODES)]), expiryOf(codes[0]));

/**
 * What a browser has asked for last; `null`: nothing, or it has expired.
 * @param texts as the browser presents them. Some may be of others who use the same key or cookie.
 */
export const unseal = (
  { secrets, clock }: Pick<Service, 'secrets' | 'clock'>,
  texts: readonly string[],
  what: Sealed = 'login-codes',
): AskedLogin | null => {
  const now = clock.now();
  const all = texts.flatMap((text): AskedLogin[] => {
    const content: unknown = JSON.parse(secrets.decrypt(text, now) ?? 'null');
    if (!Array.isArray(content) || content[0] !== what) return [];
    const [, latest, ...before] = content;
    return [{ codes: [latest, ...before.filter((code: BrowserCode) => now < expiryOf(code))] }];
  });
  const [last] = all.sort((a, b) => b.codes[0].askedAt - a.codes[0].askedAt);
  return last ?? null;
};

export const expiryOf = ({ askedAt }: AskedCode): number => askedAt + LOGIN_CODE_LIFETIME;

/** The code that a mail has. Derived with a key of the service, so nobody can guess it from what is stored. It ends with the address and with the password. */
export const codeFor = (
  { secrets }: Pick<Service, 'secrets'>,
  { id }: AskedCode,
  { id: userId, email, passwordChangedAt }: Owner,
) => {
  const value = secrets.hashOf(`${email} ${passwordChangedAt}`);
  return loginCodeOf(secrets.hashOf(secrets.sign({ purpose: KIND, userId, sessionId: id, value, expiresAt: 0 })));
};

type Owner = Pick<User, 'id' | 'email' | 'passwordChangedAt'>;

/** Says no more to the client than that it has to try again. */
export const invalidCode = (reason: string): AppError => new AppError('AUTH_CODE_INVALID', { reason });

const NOBODY: Owner = { id: '', email: '', passwordChangedAt: 0 };

/**
 * The code that is guessed right. Each guess counts for every code that it is compared with, before it is compared, and as much is done for
 * an account that does not exist.
 * @param owners by the accounts of the codes
 * @throws AppError AUTH_CODE_INVALID
 */
export const guessCode = async <Found extends Owner>(
  deps: Pick<Service, 'secrets' | 'records'>,
  { codes }: AskedLogin,
  owners: ReadonlyMap<string, Found | null>,
  typed: string,
): Promise<{ readonly code: BrowserCode; readonly owner: Found }> => {
  const matching: { readonly code: BrowserCode; readonly owner: Found }[] = [];
  for (const code of codes) {
    const owner = owners.get(code.account) ?? null;
    const isRight = isSameCode(codeFor(deps, code, owner ?? NOBODY), typed);
    if ((await countGuess(deps, code)) && isRight && owner !== null) matching.push({ code, owner });
  }
  const [found] = matching;
  if (found === undefined) throw invalidCode('the code is wrong, or was guessed too often');
  return found;
};

/** In the store, so that it is counted once for all instances. @returns whether there was a guess left. */
const countGuess = async ({ records }: Pick<Stores, 'records'>, code: AskedCode): Promise<boolean> => {
  for (let guess = 1; guess <= LOGIN_CODE_GUESSES; guess += 1)
    if (await useOnce(records, `login-code ${code.id} guess ${guess}`, expiryOf(code))) return true;
  return false;
};

const mailed = ({ id }: AskedCode): string => `login-code ${id} mailed`;

/** Makes a code good, in the transaction that writes its mail: no other code can be guessed, however many are asked for. */
export const admitCode = async ({ records }: Pick<Stores, 'records'>, code: AskedCode): Promise<void> => {
  await useOnce(records, mailed(code), expiryOf(code));
};

/**
 * Uses up all codes that a browser has asked for, in the transaction that opens its session: if that is undone, so is this.
 * @param code the one that was guessed.
 * @throws AppError AUTH_CODE_INVALID when it was not mailed, or was used.
 */
export const useCodes = async (
  { records }: Pick<Stores, 'records'>,
  { codes }: AskedLogin,
  code: AskedCode,
): Promise<void> => {
  if (await useOnce(records, mailed(code), expiryOf(code))) throw invalidCode('the code was never mailed');
  for (const each of codes)
    if (!(await useOnce(records, `login-code ${each.id}`, expiryOf(each))) && each.id === code.id)
      throw invalidCode('the code was used');
};

export type CodeSecrets = { readonly secrets: Pick<Secrets, 'sign' | 'hashOf' | 'random'> };

/** Of a code that confirms a change in a session. With a key of the service, since a code is short. */
export const hashOfCode = ({ secrets }: CodeSecrets, userId: string, code: string): string =>
  secrets.hashOf(secrets.sign({ purpose: 'confirmation-code', userId, sessionId: '', value: code, expiresAt: 0 }));

/** A new code that confirms a change, and the hash that is stored of it. */
export const newConfirmationCode = (deps: CodeSecrets, { id }: Pick<User, 'id'>) => {
  const code = loginCodeOf(deps.secrets.random());
  return { code, tokenHash: hashOfCode(deps, id, code) };
};
