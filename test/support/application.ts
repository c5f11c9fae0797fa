import { verifyBrowserProof } from '../../src/adapters/crypto/proofs.ts';
import { factorSecrets, secretsWith } from '../../src/adapters/crypto/secrets.ts';
import { memoryCounts } from '../../src/adapters/limits/counts.ts';
import { countAttempts } from '../../src/adapters/limits/login-attempts.ts';
import { memoryStorage } from '../../src/adapters/records/memory.ts';
import { simpleWebAuthn } from '../../src/adapters/webauthn/simplewebauthn.ts';
import { changePassword } from '../../src/application/accounts/profile.ts';
import { register } from '../../src/application/accounts/register.ts';
import { login } from '../../src/application/login/login.ts';
import type { LoginResult } from '../../src/application/login/pending-login.ts';
import type { IdentityProvider } from '../../src/application/ports/identity-providers.ts';
import type { Service } from '../../src/application/service.ts';
import { getCurrentUser } from '../../src/application/sessions/current-user.ts';
import { logout } from '../../src/application/sessions/end-sessions.ts';
import {
  endAllSessions,
  endOtherSessions,
  endOwnSession,
  listSessions,
} from '../../src/application/sessions/manage-sessions.ts';
import { refresh } from '../../src/application/sessions/refresh.ts';
import { plainDeviceProof, plainPasswordHasher, plainTokenSigner } from './fakes.ts';
import { fixedClock } from './fixed-clock.ts';
import { testKeyPair } from './keys.ts';
import { sequentialIds } from './sequential-ids.ts';
import { separateTransactions } from './transactions.ts';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const DAY = 24 * 60 * MINUTE;

/** The limits of SPEC "Password handling". */
const PASSWORD_LIMITS = { minLength: 8, maxBytes: 72 };

/** The input of a registration. */
export const ADA = { username: 'Ada', email: 'Ada@Example.org', password: 'correct horse' };

const SECRETS = {
  ...secretsWith({ signing: testKeyPair().privateKey, factors: null }),
  factors: factorSecrets([Buffer.alloc(32, 1)]),
};

/** The use cases over adapters in memory, with a fixed clock. @param given replaces adapters. Stores among them are not changed in one transaction. */
export const application = (given: Partial<Omit<Service, 'clock' | 'hasher' | 'secrets'>> = {}) => {
  const clock = fixedClock(Date.UTC(2026, 0, 1));
  const hasher = plainPasswordHasher();
  const { transactions, ...stores } = memoryStorage();
  const isGiven = given.users !== undefined || given.sessions !== undefined;
  const deps = {
    ...stores,
    tokens: plainTokenSigner(),
    proofs: { verifyDevice: plainDeviceProof, verifyBrowser: verifyBrowserProof },
    deviceBinding: 'enforce' as const,
    ids: sequentialIds(),
    webauthn: simpleWebAuthn({ rpId: 'localhost', origins: ['http://localhost'] }),
    isCommonPassword: null,
    passwordLimits: PASSWORD_LIMITS,
    attempts: countAttempts(memoryCounts({ now: clock.now }), clock),
    jwtAccessExpiresIn: 15 * MINUTE,
    jwtRefreshExpiresIn: 7 * DAY,
    sessionMaxLifetime: null,
    jwtAuthenticationClaims: false,
    ...{ jwtRefreshRaceWindow: 10 * SECOND, jwtRefreshReplayWindow: 0 },
    mailer: null,
    providers: new Map<string, IdentityProvider>(),
    pause: async (): Promise<unknown> => undefined,
    ...given,
    transactions: given.transactions ?? (isGiven ? separateTransactions({ ...stores, ...given }) : transactions),
    secrets: SECRETS,
    clock,
    hasher,
  };
  return {
    ...deps,
    register: register(deps),
    login: opening(login(deps)),
    refresh: refresh(deps),
    logout: logout(deps),
    authenticate: (accessToken: string) => deps.tokens.verifyAccess(accessToken, deps.clock.now()),
    getCurrentUser: getCurrentUser(deps),
    listSessions: listSessions(deps),
    endOwnSession: endOwnSession(deps),
    endAllSessions: endAllSessions(deps),
    endOtherSessions: endOtherSessions(deps),
    changePassword: changePassword(deps),
  };
};

/** A log-in whose result is always a session, for users without a second factor. */
const opening =
  <Given extends unknown[]>(logIn: (...given: Given) => Promise<LoginResult>) =>
  async (...given: Given) => {
    const result = await logIn(...given);
    if ('pendingLogin' in result) throw new Error('the log-in waits for a second factor');
    return result;
  };

/** A function that works as `work` does, but rejects once after `failNext`. */
export const unreliable = <Given extends unknown[], Result>(work: (...given: Given) => Promise<Result>) => {
  let failing = false;
  const attempt = async (...given: Given): Promise<Result> => {
    if (failing) {
      failing = false;
      throw new Error('down');
    }
    return work(...given);
  };
  return Object.assign(attempt, {
    failNext: () => {
      failing = true;
    },
  });
};

/** The reasons of the promises that are rejected. */
export const rejections = async (promises: readonly Promise<unknown>[]): Promise<unknown[]> =>
  (await Promise.allSettled(promises)).flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
