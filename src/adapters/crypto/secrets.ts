import { hash, type KeyObject, randomBytes } from 'node:crypto';
import type { RandomSecrets, Secrets } from '../../application/ports/secrets.ts';
import { factorSecrets } from './factor-secrets.ts';
import { oneTimePassword } from './one-time-passwords.ts';
import { signedValues } from './signed-values.ts';

type SecretKeys = {
  /** Private, on P-256: that of refresh tokens. */
  readonly signing: KeyObject;
  /** Of 32 bytes: the first one encrypts, all of them decrypt. */
  readonly factors: readonly [Buffer, ...Buffer[]] | null;
};

const RANDOM_BYTES = 32;

export const randomSecrets: RandomSecrets = {
  random: () => randomBytes(RANDOM_BYTES).toString('base64url'),
  hashOf: (secret) => hash('sha256', secret, 'base64url'),
};

export const secretsOf = ({ signing, factors }: SecretKeys): Secrets => ({
  ...randomSecrets,
  ...signedValues(signing),
  oneTimePassword,
  factors: factors && factorSecrets(factors),
});
