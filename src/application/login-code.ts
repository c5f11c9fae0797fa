import { AppError } from '../domain/errors/app-error.ts';
import { eightDigitsOf, LOGIN_CODE_LIFETIME } from '../domain/login-code.ts';
import type { User } from '../domain/user.ts';
import type { Secrets } from './ports/secrets.ts';
import type { Service } from './service.ts';
import { useOnce } from './storage/credentials.ts';
import type { Stores } from './storage/records.ts';

/** A code that a browser has asked for. `id` is the id of the message with the code. */
export type AskedCode = { readonly id: string; readonly askedAt: number };

export const expiryOf = ({ askedAt }: AskedCode): number => askedAt + LOGIN_CODE_LIFETIME;

/** The log-in code of a mail. It is derived with a key of the service, so that no stored value reveals it, and changes with the address and the password. */
export const codeFor = ({ secrets }: Pick<Service, 'secrets'>, { id }: AskedCode, owner: Owner): string => {
  const value = secrets.hashOf(`${owner.email} ${owner.passwordChangedAt}`);
  const signed = secrets.sign({ purpose: 'login-code', userId: owner.id, sessionId: id, value, expiresAt: 0 });
  return eightDigitsOf(secrets.hashOf(signed));
};

type Owner = Pick<User, 'id' | 'email' | 'passwordChangedAt'>;

export const invalidCode = (reason: string): AppError => new AppError('AUTH_CODE_INVALID', { reason });

const mailedId = ({ id }: AskedCode): string => `login-code ${id} mailed`;

/** Makes a code valid, in the transaction that writes its mail. So only mailed codes can be guessed, however many a browser asks for. */
export const admitCode = async ({ records }: Pick<Stores, 'records'>, code: AskedCode): Promise<void> => {
  await useOnce(records, mailedId(code), expiryOf(code));
};

/**
 * Uses up the codes that a browser presents, in the transaction of its log-in.
 * @param code the code that the user has typed. @throws AppError AUTH_CODE_INVALID when that code was not mailed, or was used.
 */
export const useCodes = async (
  { records }: Pick<Stores, 'records'>,
  codes: readonly AskedCode[],
  code: AskedCode,
): Promise<void> => {
  if (await useOnce(records, mailedId(code), expiryOf(code))) throw invalidCode('the code was never mailed');
  for (const each of codes)
    if (!(await useOnce(records, `login-code ${each.id}`, expiryOf(each))) && each.id === code.id)
      throw invalidCode('the code was used');
};

type CodeSecrets = { readonly secrets: Pick<Secrets, 'sign' | 'hashOf' | 'random'> };

/** The hash of a code that confirms a change in a session. It depends on a key of the service: without the key, so short a code could be guessed. */
export const hashOfCode = ({ secrets }: CodeSecrets, userId: string, code: string): string =>
  secrets.hashOf(secrets.sign({ purpose: 'confirmation-code', userId, sessionId: '', value: code, expiresAt: 0 }));

export const newConfirmationCode = (deps: CodeSecrets, { id }: Pick<User, 'id'>) => {
  const code = eightDigitsOf(deps.secrets.random());
  return { code, tokenHash: hashOfCode(deps, id, code) };
};
