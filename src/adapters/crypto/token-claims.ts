import * as v from 'valibot';
import { AMR_VALUES } from '../../domain/assurance.ts';
import { PublicUserFromJson } from '../json/fields.ts';

/** Seconds since the epoch: the end of the year 9999, the last that ISO 8601 writes with four digits. */
const LAST_SECOND = 253_402_300_799;
/** Seconds since the epoch (RFC 7519 §2). */
const NumericDate = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(LAST_SECOND));

const Ulid = v.pipe(v.string(), v.ulid());

const registeredClaims = { sub: Ulid, iat: NumericDate, exp: NumericDate, jti: Ulid };

/** Other parameters than these, and `rot` of refresh tokens, are refused: some (RFC 7515 §4.1) let a token choose its key, or how it is verified. */
const headerParameters = { alg: v.literal('ES256'), typ: v.literal('JWT'), kid: v.string(), sid: Ulid };

const accessClaims = {
  ...registeredClaims,
  tokenType: v.literal('access'),
  user: PublicUserFromJson,
  attributes: v.exactOptional(v.record(v.string(), v.unknown())),
  sid: v.exactOptional(Ulid),
  cnf: v.exactOptional(v.strictObject({ jkt: v.string() })),
};

/** How and when the user has authenticated (RFC 9068 §2.2.1). */
const authenticationClaims = {
  auth_time: NumericDate,
  amr: v.array(v.picklist(AMR_VALUES)),
  acr: v.picklist(['aal1', 'aal2']),
};

/** SPEC "Access token (JWT, ES256) claims". */
export const AccessTokenOfSession = v.pipe(
  v.object({
    payload: v.pipe(
      v.union([v.strictObject(accessClaims), v.strictObject({ ...accessClaims, ...authenticationClaims })]),
      v.check(({ sub, user }) => sub === user.id),
    ),
    protectedHeader: v.strictObject(headerParameters),
  }),
  v.check(({ payload: { sid }, protectedHeader }) => sid === undefined || sid === protectedHeader.sid),
  v.transform(({ payload, protectedHeader: { sid } }) => ({ claims: payload, sessionId: sid })),
);

/** SPEC "Refresh token (JWT, ES256) claims". */
export const RefreshTokenOfSession = v.pipe(
  v.object({
    payload: v.strictObject({ ...registeredClaims, tokenType: v.literal('refresh') }),
    protectedHeader: v.strictObject({ ...headerParameters, rot: v.pipe(v.number(), v.safeInteger(), v.minValue(0)) }),
  }),
  v.transform(({ payload, protectedHeader: { sid, rot } }) => ({ claims: payload, sessionId: sid, rotation: rot })),
);

/** The header parameters `sid`, the id of a token's session, and `rot`, the number of a refresh token in its session. */
export type SessionHeader = { readonly sid: string; readonly rot?: number };

/** Characters. Texts that are longer are not parsed. */
export const MAX_TOKEN_LENGTH = 8 * 1024;
