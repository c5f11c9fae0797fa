/** The contracts of all ports, which a program with an adapter of its own imports from `tandem/contracts`. ADR 0029. */
export { describeClock } from './clock.contract.ts';
export { type Absent, absent } from './hooks.ts';
export { describeIdGenerator } from './id-generator.contract.ts';
export { inThread } from './in-thread.ts';
export { describeLoginAttempts } from './login-attempts.contract.ts';
export type { MailStore, Received } from './mailer/store.ts';
export { describeMailer } from './mailer.contract.ts';
export { describePasswordBlocklist } from './password-blocklist.contract.ts';
export { describePasswordHasher } from './password-hasher.contract.ts';
export type { DelayedSessions, SessionStore } from './session-repository/store.ts';
export { describeSessionRepository } from './session-repository.contract.ts';
export { describeTokenSigner } from './token-signer.contract.ts';
export type { UserStore } from './user-repository/store.ts';
export { describeUserRepository } from './user-repository.contract.ts';
