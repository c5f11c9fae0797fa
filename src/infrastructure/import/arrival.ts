import * as v from 'valibot';
import { storableHash } from '../../adapters/crypto/foreign/storable-hash.ts';
import { derivedUlid } from '../../adapters/crypto/ulid.ts';
import { typedAccount, Username } from '../../adapters/json/fields.ts';
import type { Arrival } from '../../application/accounts/import-user.ts';
import type { PasswordHasher } from '../../application/ports/password-hasher.ts';
import type { Identity } from '../../domain/identity.ts';
import { NO_PASSWORD, UNKNOWN_PASSWORD } from '../../domain/password.ts';
import { canonicalEmail, isId } from '../../domain/user.ts';
import { type Line, readLine } from './line.ts';

/** A user who can be stored once the password hash is known: to wrap it may take long. */
export type Waiting = {
  readonly oldId: string | null;
  /** As it is in the source, unless it is the address. */
  readonly givenUsername: string | null;
  readonly arrival: Omit<Arrival, 'passwordHash'>;
  readonly passwordHash: string | null;
};

type Refused = { readonly problem: string };

/**
 * Reads a user of a source.
 * @param from the name of the source: ids of two systems may be equal.
 */
export const readArrival = (user: unknown, from: string): Waiting | Refused => {
  const line = readLine(user);
  if ('problem' in line) return line;
  const { username, identities, factors } = line;
  const [legal, email] = [v.safeParse(Username, username), canonicalEmail(line.email)];
  return {
    oldId: line.id ?? null,
    givenUsername: username && canonicalEmail(typedAccount(username)) !== email ? username : null,
    passwordHash: line.passwordHash ?? null,
    arrival: {
      id: idOf(line, JSON.stringify(line.id ? [from, line.id] : [from, user])),
      username: legal.success ? legal.output : null,
      email,
      isEmailVerified: line.emailVerified ?? false,
      isDisabled: line.disabled ?? false,
      createdAt: line.createdAt ?? null,
      locale: line.locale ?? null,
      attributes: line.attributes ?? {},
      identities: distinct(identities ?? []).map(({ issuer, subject, provider, email }) => ({
        ...{ issuer, subject, provider: provider ?? new URL(issuer).hostname, email: email ?? null },
      })),
      appSecrets: (factors ?? []).map(({ secret }) => secret),
    },
  };
};

/** Two tables of a system may have the same link. */
const distinct = <Link extends Pick<Identity, 'issuer' | 'subject'>>(links: readonly Link[]): readonly Link[] => [
  ...new Map(links.map((link) => [JSON.stringify([link.issuer, link.subject]), link])).values(),
];

/** The same for the same line, so that it is in once, however often it is imported, and also when the user has another address by then. */
const idOf = ({ id, createdAt }: Line, content: string): string =>
  id && isId(id) ? id : derivedUlid(createdAt ?? 0, content);

/** The hash as it is stored. @param hasher wraps a digest, which is too fast to be stored */
export const withHash = async (
  { arrival, passwordHash }: Waiting,
  hasher: Pick<PasswordHasher, 'hash'>,
): Promise<Arrival | Refused> => {
  if (passwordHash === null || passwordHash === NO_PASSWORD)
    return { ...arrival, passwordHash: passwordHash ?? UNKNOWN_PASSWORD };
  const stored = await storableHash(passwordHash, hasher);
  return 'problem' in stored ? { problem: `passwordHash: ${stored.problem}` } : { ...arrival, ...stored };
};
