import type { Attributes } from '../../domain/attributes.ts';
import { derivedUsernames } from '../../domain/derived-username.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN } from '../../domain/event.ts';
import type { VerifiedIdentity } from '../../domain/identity.ts';
import type { Invitation } from '../../domain/invitation.ts';
import { preferredLocale } from '../../domain/locale.ts';
import { assertPasswordAllowed, NO_PASSWORD } from '../../domain/password.ts';
import { canonicalEmail, newUser, type User } from '../../domain/user.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import type { Service } from '../service.ts';
import type { ClientContext } from '../sessions/prove-device.ts';
import { presentedInvitation } from './invitations.ts';

export type RegisterInput = ClientContext & {
  /** Without it, one is derived from the email. */
  readonly username?: string | undefined;
  readonly email: string;
  /** Without it, the user logs in in other ways, and may choose one by a link in a mail. */
  readonly password?: string | undefined;
  /** The token of an invitation. */
  readonly invitation?: string | undefined;
  /** Its address is the email. It is linked to the account. */
  readonly identity?: VerifiedIdentity | undefined;
  /** For the hook of registrations. */
  readonly extra?: Readonly<Record<string, string>> | undefined;
};

/**
 * @returns the invitation that is presented; `null` for none
 * @throws AppError AUTH_REGISTRATION_CLOSED, AUTH_REGISTRATION_REFUSED, CLIENT_PARAMS_VALIDATION_FAILED
 */
export const assertAllowed = async (deps: Service, input: RegisterInput): Promise<Invitation | null> => {
  const { username, email, password } = input;
  const invitation = await presentedInvitation(deps, input);
  if (password !== undefined)
    await assertPasswordAllowed(deps, { username: username ?? email, email, password }, 'password');
  return invitation;
};

type Usernames = readonly [string, ...string[]];

export type Applicant = {
  /** With the last of the usernames. */
  readonly user: User;
  readonly usernames: Usernames;
};

/**
 * Makes the user of a registration: asks the hook, and then hashes the password. Both depend on nothing that is stored about the address. An
 * invitation proves it, and so does a provider that says so.
 */
export const applicantOf = async (
  deps: Service,
  input: RegisterInput,
  invitation: Invitation | null = null,
): Promise<Applicant> => {
  const { hasher, secrets, clock, ids, mailLocales = [] } = deps;
  const { username: chosen, email, password, locales = [] } = input;
  const locale = preferredLocale(locales, mailLocales);
  const attributes = await attributesOf(deps, input, locale, invitation);
  const passwordHash = password === undefined ? NO_PASSWORD : await hasher.hash(password);
  const usernames: Usernames = chosen === undefined ? derivedUsernames(email, secrets.random()) : [chosen];
  const username = usernames.at(-1) ?? usernames[0];
  const now = clock.now();
  const isProven = invitation !== null || (input.identity?.isEmailVerified ?? false);
  const emailVerifiedAt = isProven ? now : null;
  const user = newUser({ id: ids.next(), username, email, passwordHash, now, locale, attributes, emailVerifiedAt });
  return { user, usernames };
};

/** @returns what the invitation and the hook state about the user. */
const attributesOf = async (
  { beforeRegister }: Service,
  { username, email, origin = NO_ORIGIN, extra = {} }: RegisterInput,
  locale: string | null,
  invitation: Invitation | null,
): Promise<Attributes> => {
  if (beforeRegister === undefined) return invitation?.attributes ?? {};
  const { address, userAgent } = origin;
  const who = { username: username ?? null, email: canonicalEmail(email), locale, invited: invitation !== null };
  const answer = await beforeRegister({ ...who, address, userAgent, extra }, invitation?.attributes);
  if (answer.decision === 'allow') return answer.attributes ?? {};
  throw new AppError('AUTH_REGISTRATION_REFUSED', { reason: 'by a hook', hookMessage: answer.message });
};

/** Stores an applicant under the first of the usernames that is free. Each try has a transaction of its own, which a taken name ends. */
export const underFreeUsername = async <Result>(
  users: Pick<UserRepository, 'findByUsername'>,
  { user, usernames: [username, next, ...others] }: Applicant,
  store: (user: User) => Promise<Result>,
): Promise<Result> => {
  try {
    return await store({ ...user, username });
  } catch (error) {
    const isOfUsername = async () => isTaken(error) && (await users.findByUsername(username)) !== null;
    if (next === undefined || !(await isOfUsername())) throw error;
    return underFreeUsername(users, { user, usernames: [next, ...others] }, store);
  }
};

export const isTaken = (error: unknown): boolean =>
  error instanceof AppError && (error.code === 'AUTH_USER_DUPLICATE' || error.code === 'DB_UNIQUE_VIOLATION');
