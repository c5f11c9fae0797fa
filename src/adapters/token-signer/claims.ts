import * as v from 'valibot';
import { PublicUserFromJson } from '../json/public-user.ts';

/** Seconds since the epoch: RFC 7519 §2. */
const NumericDate = v.pipe(v.number(), v.integer(), v.minValue(0));

const registered = { sub: v.string(), iat: NumericDate, exp: NumericDate, jti: v.string() };

/** What an access token must hold, and nothing besides. SPEC "Access token (JWT, ES256) claims". */
export const AccessToken = v.pipe(
  v.object({ payload: v.strictObject({ ...registered, tokenType: v.literal('access'), user: PublicUserFromJson }) }),
  v.transform(({ payload }) => payload),
);

/** What a refresh token must hold, and its session in the header. SPEC "Refresh token (JWT, ES256) claims". */
export const RefreshTokenOfSession = v.pipe(
  v.object({
    payload: v.strictObject({ ...registered, tokenType: v.literal('refresh') }),
    protectedHeader: v.object({ sid: v.string() }),
  }),
  v.transform(({ payload, protectedHeader }) => ({ claims: payload, sessionId: protectedHeader.sid })),
);
