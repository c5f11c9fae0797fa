import type { UsedCredential } from '../../../application/ports/webauthn.ts';
import type { PresentedFactor } from '../../../application/steps/show-factor.ts';
import { RequestValidationFailure } from '../errors/exceptions.ts';

/**
 * The one of several optional members that a body has.
 * @throws RequestValidationFailure when it has none or several.
 */
export const onlyMemberOf = <Body extends object>(body: Body): keyof Body => {
  const names = Object.keys(body) as (keyof Body & string)[];
  const [only, ...more] = names.filter((name) => body[name] !== undefined);
  if (only !== undefined && more.length === 0) return only;
  const code = only === undefined ? 'required' : 'unknown';
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
  onlyMemberOf(members);
  const { code = '', recoveryCode, credential } = members;
  if (credential !== undefined) return { credential };
  return recoveryCode === undefined ? { code } : { recoveryCode };
};
