import { bindingOf, type DeviceKeys, type DeviceProof, type Evidence, NO_KEYS } from '../../domain/device.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import type { Origin } from '../../domain/event.ts';
import type { SessionKey } from '../../domain/session.ts';
import type { ProofOutcome, ProofTarget } from '../ports/proofs.ts';
import type { RefreshToken } from '../ports/token-signer.ts';
import type { Service } from '../service.ts';

/** A proof that a request presents, and the request that it must be for. */
export type PresentedProof = ProofTarget & { readonly text: string };

export type Presented = {
  readonly proof: PresentedProof | null;
  readonly boundCookies?: readonly string[];
};

/** What use cases need to know about the client of a request. Tokens and devices are not verified yet. */
export type ClientContext = {
  readonly origin?: Origin;
  readonly presented?: Presented;
  readonly refreshTokens?: readonly string[];
  readonly rememberedDevices?: readonly string[];
  readonly locales?: readonly string[];
  /** The networks of the client, the widest first. */
  readonly networks?: readonly string[];
};

export const NOTHING_PRESENTED: Presented = { proof: null };

const outcomeOf = async ({ proofs, clock, deviceBinding }: Service, { proof }: Presented) =>
  proof === null || deviceBinding === 'off' ? null : proofs.verifyDevice(proof.text, proof, clock.now());

export const unproven = (reason: string): AppError => new AppError('AUTH_DEVICE_UNPROVEN', { reason });
/** Refuses a proof by the right key, which can sign another one. */
const expired = (reason: string): AppError => new AppError('AUTH_PROOF_EXPIRED', { reason });
const UNTIMELY = 'the time of the proof is more than a minute off';

export const provenDevice = async (deps: Service, presented: Presented): Promise<DeviceProof | null> => {
  const outcome = await outcomeOf(deps, presented);
  if (outcome === null) return null;
  if (!outcome.ok) throw outcome.reason === 'untimely' ? expired(UNTIMELY) : unproven('the proof is not valid');
  return outcome.proof;
};

export const provenKeys = async (deps: Service, presented: Presented): Promise<DeviceKeys> => {
  const proof = await provenDevice(deps, presented);
  return proof === null ? NO_KEYS : { ...NO_KEYS, deviceKey: proof.key, proofs: [proof.number] };
};

/** The evidence of a refresh, and the error if it is not enough for a session with these keys. */
export type Proven = {
  readonly evidence: Evidence;
  readonly refusal: (keys: Pick<DeviceKeys, 'deviceKey'>) => AppError;
};

/** The evidence of a refresh. An invalid proof counts as none, since the session may need none. */
export const evidenceOf = async (deps: Service, presented: Presented, verified: RefreshToken[]): Promise<Proven> => {
  const outcome = await outcomeOf(deps, presented);
  const proof = outcome?.ok === true ? outcome.proof : null;
  return {
    evidence: {
      required: deps.deviceBinding !== 'off',
      proof,
      browserKey: browserKeyOf(deps, presented, verified),
      signer: signerOf(outcome),
    },
    refusal: ({ deviceKey }) => {
      if (proof !== null && proof.key === deviceKey) return expired('the proof was used, or may have been');
      if (outcome?.ok === false && outcome.reason === 'untimely' && outcome.key === deviceKey) return expired(UNTIMELY);
      return unproven(outcome === null ? 'no proof' : 'no proof by the key of the session');
    },
  };
};

/** The key that has signed a proof, even if the time of the proof is wrong. */
const signerOf = (outcome: ProofOutcome | null): string | null => {
  if (outcome === null) return null;
  if (outcome.ok) return outcome.proof.key;
  return outcome.reason === 'untimely' ? outcome.key : null;
};

/** The key in a live bound cookie of the user. The session need not be the same, since one that replaces another keeps the key. */
const browserKeyOf = (
  { secrets, clock }: Service,
  { boundCookies = [] }: Presented,
  verified: readonly RefreshToken[],
): string | null => {
  const opened = boundCookies.map((text) => secrets.unsign(text, 'cookie', clock.now()));
  return opened.find((cookie) => verified.some(({ claims }) => claims.sub === cookie?.userId))?.value ?? null;
};

/** Milliseconds. The pages may offer a passkey before they lead back with the code. */
const BINDING_CODE_LIFETIME = 5 * 60_000;

/** A code by which an application binds the session that was opened at the pages of the service (ADR 0006). */
export const makeBindingCode = ({ secrets, clock }: Service, session: SessionKey) =>
  secrets.sign({
    ...{ purpose: 'binding-code', userId: session.userId, sessionId: session.id },
    ...{ value: '', expiresAt: clock.now() + BINDING_CODE_LIFETIME },
  });

/** Binds the session of the code to the key that the request proves, unless it has a key. */
export const bindByCode = async (
  { secrets, clock, sessions }: Service,
  code: string,
  { verified, evidence: { proof } }: Pick<Proven, 'evidence'> & { readonly verified: readonly RefreshToken[] },
): Promise<void> => {
  const { sessionId: id = '', userId = '' } = secrets.unsign(code, 'binding-code', clock.now()) ?? {};
  if (proof === null || !verified.some(({ sessionId }) => sessionId === id)) return;
  const session = await sessions.find({ id, userId });
  if (session !== null && bindingOf(session) === 'none') await sessions.bindPage(session, proof.key);
};
