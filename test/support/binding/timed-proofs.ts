import type { Proofs } from '../../../src/application/ports/proofs.ts';
import { PROOF_TOLERANCE } from '../../../src/domain/device-binding.ts';

const PER_SECOND = 2 ** 21;

/** Proofs without cryptography, as `key.second.number`. */
export const timedDeviceProof: Proofs['verifyDevice'] = async (text, _target, now) => {
  const [, key, second, number] = /^(\w+)\.(\d+)\.(\d+)$/.exec(text) ?? [];
  if (key === undefined) return { ok: false, reason: 'invalid' };
  if (Math.abs(now - Number(second) * 1000) > PROOF_TOLERANCE) return { ok: false, reason: 'untimely', key };
  return { ok: true, proof: { key, number: Number(second) * PER_SECOND + (Number(number) % PER_SECOND) } };
};

let made = 0;

/** A proof of a key. Those of one second have numbers in no order. */
export const timedProof = (key: string, now: number): string => {
  made += 1;
  return `${key}.${Math.floor(now / 1000)}.${(made * 1_299_709) % PER_SECOND}`;
};
