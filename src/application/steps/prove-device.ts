import type { DeviceBinding, DeviceProof, Evidence } from '../../domain/device-binding.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import type { Clock } from '../ports/clock.ts';
import type { DeviceProofs, ProofOutcome, ProofTarget } from '../ports/device-proofs.ts';

export type ProveDeviceDeps = {
  readonly proofs: DeviceProofs;
  readonly clock: Clock;
  readonly deviceBinding: DeviceBinding;
};

/** A proof as a request presents it, and the request that it has to be for. */
export type PresentedProof = ProofTarget & { readonly text: string };

/** What a request presents of its device. */
export type Presented = { readonly proof: PresentedProof | null };

export const NOTHING_PRESENTED: Presented = { proof: null };

const outcomeOf = async (
  { proofs, clock, deviceBinding }: ProveDeviceDeps,
  { proof }: Presented,
): Promise<ProofOutcome | null> =>
  proof === null || deviceBinding === 'off' ? null : proofs.verify(proof.text, proof, clock.now());

/** The refusal of a proof. An honest device with a wrong clock can sign another one. */
export const unproven = (outcome: ProofOutcome | null, reason: string): AppError =>
  outcome?.ok === false && outcome.reason === 'untimely'
    ? new AppError('AUTH_PROOF_EXPIRED')
    : new AppError('AUTH_DEVICE_UNPROVEN', { reason });

/**
 * The key that a session is opened with; `null` without a proof.
 * @throws AppError AUTH_DEVICE_UNPROVEN, AUTH_PROOF_EXPIRED
 */
export const provenDevice = async (deps: ProveDeviceDeps, presented: Presented): Promise<DeviceProof | null> => {
  const outcome = await outcomeOf(deps, presented);
  if (outcome === null) return null;
  if (!outcome.ok) throw unproven(outcome, 'the proof is not valid');
  return outcome.proof;
};

/** What a refresh shows. A proof that does not verify counts as none, since the session may need none. */
export const evidenceOf = async (
  deps: ProveDeviceDeps,
  presented: Presented,
): Promise<{ readonly evidence: Evidence; readonly outcome: ProofOutcome | null }> => {
  const outcome = await outcomeOf(deps, presented);
  const proof = outcome?.ok === true ? outcome.proof : null;
  return { outcome, evidence: { required: deps.deviceBinding !== 'off', proof, browserKey: null } };
};
