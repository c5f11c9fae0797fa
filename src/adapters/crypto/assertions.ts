import type { KeyObject } from 'node:crypto';
import * as v from 'valibot';
import type { VerifyAssertion } from '../../application/ports/proofs.ts';
import { ID_PATTERN } from '../../domain/user.ts';

/** Seconds. */
const LIFETIME = 60;
/** Seconds by which the clock of the former system may be ahead or behind. */
const CLOCK_TOLERANCE = 5;

const Claims = v.object({
  sub: v.pipe(v.string(), v.regex(ID_PATTERN)),
  jti: v.pipe(v.string(), v.regex(/^[!-~]{1,128}$/)),
  iat: v.number(),
  exp: v.number(),
});

/**
 * Verifies assertions of the former system: JWTs of the type `adoption+jwt`, signed with ES256 or EdDSA, that are valid for a minute at most.
 * @param keys on P-256, or Ed25519.
 * @param baseUrl the audience, which may have a trailing slash.
 */
export const assertionVerifier =
  (keys: readonly KeyObject[], baseUrl: string): VerifyAssertion =>
  async (text, now) => {
    // Most services adopt nobody.
    const { jwtVerify } = await import('jose/jwt/verify');
    const problems: string[] = [];
    for (const key of keys) {
      try {
        const { payload } = await jwtVerify(text, key, {
          typ: 'adoption+jwt',
          algorithms: key.asymmetricKeyType === 'ec' ? ['ES256'] : ['EdDSA', 'Ed25519'],
          audience: [baseUrl, `${baseUrl}/`],
          maxTokenAge: LIFETIME,
          clockTolerance: CLOCK_TOLERANCE,
          currentDate: new Date(now),
        });
        const { success, output } = v.safeParse(Claims, payload);
        if (!success) return { problem: 'sub, jti or exp is missing or malformed' };
        const { sub: userId, jti: id, iat, exp } = output;
        if (exp - iat > LIFETIME) return { problem: 'exp is more than a minute after iat' };
        // The library compares whole seconds.
        return { id, userId, expiresAt: (Math.ceil(exp) + CLOCK_TOLERANCE) * 1_000 };
      } catch (error) {
        // Messages of the library name what is wrong, and contain nothing of the text.
        problems.push(error instanceof Error ? error.message : 'unknown');
      }
    }
    return { problem: [...new Set(problems)].join('; ') };
  };
