import type { JWTPayload } from 'jose';
import * as v from 'valibot';
import { PublicUserFromJson } from '../json/public-user.ts';

/** The end of the year 9999: what lies beyond is no time that anybody meant. */
const LAST_SECOND = 253_402_300_799;
/** Seconds since the epoch: RFC 7519 §2. */
const NumericDate = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(LAST_SECOND));

const Ulid = v.pipe(v.string(), v.ulid());

const registered = { sub: Ulid, iat: NumericDate, exp: NumericDate, jti: Ulid };

/** Whatever else a header may hold (RFC 7515 §4.1) is there to choose the key or the rules, which is nobody's choice. */
const header = { alg: v.literal('ES256'), typ: v.literal('JWT'), kid: v.string(), sid: Ulid };

/** What a token must hold, and nothing besides; its session in the header. */
const tokenOf = <Claims>(claims: v.GenericSchema<unknown, Claims>) =>
  v.pipe(
    v.object({ payload: claims, protectedHeader: v.strictObject(header) }),
    v.transform(({ payload, protectedHeader }) => ({ claims: payload, sessionId: protectedHeader.sid })),
  );

/** SPEC "Access token (JWT, ES256) claims". */
export const AccessTokenOfSession = tokenOf(
  v.pipe(
    v.strictObject({ ...registered, tokenType: v.literal('access'), user: PublicUserFromJson }),
    v.check(({ sub, user }) => sub === user.id),
  ),
);

/** SPEC "Refresh token (JWT, ES256) claims". */
export const RefreshTokenOfSession = tokenOf(v.strictObject({ ...registered, tokenType: v.literal('refresh') }));

/** Who issues the tokens and for whom, where that is configured: RFC 7519 §4.1.1, §4.1.3. `null` is not. */
export type Parties = { readonly issuer: string | null; readonly audience: string | null };
export type PartyClaims = Pick<JWTPayload, 'iss' | 'aud'>;

export const partyClaims = ({ issuer, audience }: Parties): PartyClaims => ({
  ...(issuer !== null && { iss: issuer }),
  ...(audience !== null && { aud: audience }),
});

/** The other claims of a token whose parties are exactly these, else `null`. */
export const claimsBetween = (parties: PartyClaims, payload: JWTPayload): JWTPayload | null => {
  const { iss, aud, ...others } = payload;
  if (iss !== parties.iss || aud !== parties.aud) return null;
  return others;
};
