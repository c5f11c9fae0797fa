import { oneTimePassword } from '../../src/adapters/crypto/secrets.ts';
import { acceptedSteps } from '../../src/domain/second-factor.ts';

/** The code that an authenticator app shows. @param now epoch milliseconds */
export const codeAt = (secret: string, now: number): string => {
  const [present = 0] = acceptedSteps(now);
  return oneTimePassword(secret, present);
};

/** A code that the service refuses at this time. */
export const wrongCodeAt = (secret: string, now: number): string => {
  const right = acceptedSteps(now).map((step) => oneTimePassword(secret, step));
  return ['000000', '111111', '222222', '333333'].find((code) => !right.includes(code)) ?? '';
};
