import type { PresentedFactor } from '../../../application/factors/verify-factor.ts';
import type { UsedCredential } from '../../../application/ports/webauthn.ts';
import { RequestValidationFailure } from '../errors/exceptions.ts';

/** @throws RequestValidationFailure when a body has none or several of some optional members. */
export const assertOneMember = (members: Readonly<Record<string, unknown>>): void => {
  const names = Object.keys(members);
  const given = names.filter((name) => members[name] !== undefined);
  if (given.length === 1) return;
  const code = given.length === 0 ? 'required' : 'unknown';
  throw new RequestValidationFailure([{ field: 'body', message: `must have one of ${names.join(', ')}`, code }]);
};

/** The members of a body that show a factor. */
type Members = {
  readonly code: string | undefined;
  readonly recoveryCode?: string | undefined;
  readonly credential: UsedCredential | undefined;
};

/** @throws RequestValidationFailure when the body has none or several of the members. */
export const presentedFactor = (members: Members): PresentedFactor => {
  assertOneMember(members);
  const { code = '', recoveryCode, credential } = members;
  if (credential !== undefined) return { credential };
  return recoveryCode === undefined ? { code } : { recoveryCode };
};
