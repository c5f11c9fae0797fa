import { bindingOf, type DeviceKeys, type DeviceProof, type Evidence, NO_KEYS } from '../../domain/device.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import type { Origin } from '../../domain/event.ts';
import type { SessionKey } from '../../domain/session.ts';
import type { ProofOutcome, ProofTarget } from '../ports/proofs.ts';
import type { RefreshToken } from '../ports/token-signer.ts';
import type { Service } from '../service.ts';

/** A proof that a request presents, and the request that it must be for. */
export type PresentedProof = ProofTarget & { readonly text: string };

export type PresentedDevice = { readonly proof: PresentedProof | null; readonly boundCookies?: readonly string[] };

/** What use cases need to know about the client of a request. Tokens and devices are not verified yet. */
export type ClientContext = {
  readonly origin?: Origin;
  readonly presented?: PresentedDevice;
  readonly refreshTokens?: readonly string[];
  readonly rememberedDevices?: readonly string[];
  readonly locales?: readonly string[];
  /** The networks of the client, the widest first. */
  readonly networks?: readonly string[];
};

export const NOTHING_PRESENTED: PresentedDevice = { proof: null };

const outcomeOf = async ({ proofs, clock, deviceBinding }: Service, { proof }: PresentedDevice) =>
  proof === null || deviceBinding === 'off' ? null : proofs.verifyDevice(proof.text, proof, clock.now());

export const deviceUnproven = (reason: string): AppError => new AppError('AUTH_DEVICE_UNPROVEN', { reason });
/** The error for a proof that comes at a wrong time, or a second time: the client can sign another one. */
const proofExpired = (reason: string): AppError => new AppError('AUTH_PROOF_EXPIRED', { reason });
const UNTIMELY_REASON = 'the time of the proof is more than a minute off';

export const provenDevice = async (deps: Service, presented: PresentedDevice): Promise<DeviceProof | null> => {
  const outcome = await outcomeOf(deps, presented);
  if (outcome === null) return null;
  if (!outcome.ok)
    throw outcome.reason === 'untimely' ? proofExpired(UNTIMELY_REASON) : deviceUnproven('the proof is not valid');
  return outcome.proof;
};

export const provenKeys = async (deps: Service, presented: PresentedDevice): Promise<DeviceKeys> => {
  const proof = await provenDevice(deps, presented);
  return proof === null ? NO_KEYS : { ...NO_KEYS, deviceKey: proof.key, proofs: [proof.number] };
};

/** The evidence of a request, and the error if it is not enough for a session. An invalid proof counts as none, since the session may need no proof. */
export const evidenceOf = async (deps: Service, presented: PresentedDevice, verified: RefreshToken[]) => {
  const outcome = await outcomeOf(deps, presented);
  const proof = outcome?.ok === true ? outcome.proof : null;
  const browserKey = browserKeyOf(deps, presented, verified);
  const evidence: Evidence = { required: deps.deviceBinding !== 'off', proof, browserKey, signer: signerOf(outcome) };
  return {
    evidence,
    refusal: ({ deviceKey }: Pick<DeviceKeys, 'deviceKey'>) => {
      if (proof !== null && proof.key === deviceKey) return proofExpired('the proof was used, or may have been');
      if (outcome?.ok === false && outcome.reason === 'untimely' && outcome.key === deviceKey)
        return proofExpired(UNTIMELY_REASON);
      return deviceUnproven(outcome === null ? 'no proof' : 'no proof by the key of the session');
    },
  };
};
export type RequestEvidence = Awaited<ReturnType<typeof evidenceOf>>;

/** The key that has signed a proof, even if the time of the proof is wrong. */
const signerOf = (outcome: ProofOutcome | null): string | null => {
  if (outcome === null) return null;
  if (outcome.ok) return outcome.proof.key;
  return outcome.reason === 'untimely' ? outcome.key : null;
};

/** The key in a live bound cookie of the user. The cookie may be of a former session, since `replaceSession` keeps the keys of a session. */
const browserKeyOf = (
  { secrets, clock }: Service,
  { boundCookies = [] }: PresentedDevice,
  verified: readonly RefreshToken[],
): string | null => {
  const opened = boundCookies.map((text) => secrets.unsign(text, 'cookie', clock.now()));
  return opened.find((cookie) => verified.some(({ claims }) => claims.sub === cookie?.userId))?.value ?? null;
};

/** Milliseconds: long enough for the offer of a passkey, which a page may show before it sends the browser back with the code. */
const BINDING_CODE_LIFETIME = 5 * 60_000;

/** A code by which an application binds a session to its key, after a log-in at the pages of the service or at a provider (ADR 0006). */
export const makeBindingCode = ({ secrets, clock }: Service, session: SessionKey) =>
  secrets.sign({
    ...{ purpose: 'binding-code', userId: session.userId, sessionId: session.id },
    ...{ value: '', expiresAt: clock.now() + BINDING_CODE_LIFETIME },
  });

/** Binds the session of the code to the key that the request proves, if the request has a refresh token of the session, and the session has no key yet. */
export const bindByCode = async (
  { secrets, clock, sessions }: Service,
  code: string,
  { verified, evidence: { proof } }: Pick<RequestEvidence, 'evidence'> & { readonly verified: readonly RefreshToken[] },
): Promise<void> => {
  const { sessionId: id = '', userId = '' } = secrets.unsign(code, 'binding-code', clock.now()) ?? {};
  if (proof === null || !verified.some(({ sessionId }) => sessionId === id)) return;
  const session = await sessions.find({ id, userId });
  if (session !== null && bindingOf(session) === 'none') await sessions.bindPage(session, proof.key);
};
