import { AppError } from '../domain/errors/app-error.ts';
import { LOGIN_CODE_LIFETIME, loginCodeOf } from '../domain/login-code.ts';
import type { User } from '../domain/user.ts';
import type { Secrets } from './ports/secrets.ts';
import type { Service } from './service.ts';
import { useOnce } from './storage/credentials.ts';
import type { Stores } from './storage/records.ts';

/** A code that was asked for. `id` is that of the message that sends it. */
export type AskedCode = { readonly id: string; readonly askedAt: number };

export const expiryOf = ({ askedAt }: AskedCode): number => askedAt + LOGIN_CODE_LIFETIME;

/** The code that a mail has. Derived with a key of the service, so nobody can guess it from what is stored. It ends with the address and with the password. */
export const codeFor = (
  { secrets }: Pick<Service, 'secrets'>,
  { id }: AskedCode,
  { id: userId, email, passwordChangedAt }: Owner,
) => {
  const value = secrets.hashOf(`${email} ${passwordChangedAt}`);
  return loginCodeOf(
    secrets.hashOf(secrets.sign({ purpose: 'login-code', userId, sessionId: id, value, expiresAt: 0 })),
  );
};

type Owner = Pick<User, 'id' | 'email' | 'passwordChangedAt'>;

/** Says no more to the client than that it has to try again. */
export const invalidCode = (reason: string): AppError => new AppError('AUTH_CODE_INVALID', { reason });

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
  { codes }: { readonly codes: readonly AskedCode[] },
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

export const newConfirmationCode = (deps: CodeSecrets, { id }: Pick<User, 'id'>) => {
  const code = loginCodeOf(deps.secrets.random());
  return { code, tokenHash: hashOfCode(deps, id, code) };
};
