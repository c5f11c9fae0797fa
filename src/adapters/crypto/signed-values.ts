import { createHmac, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Secrets, SignedPurpose } from '../../application/ports/secrets.ts';

const MAX_LENGTH = 300;
/** The ids of the user and of the session, the time of its expiry, its value, and the HMAC of these. */
const SIGNED = /^(?<userId>\w*)\.(?<sessionId>\w*)\.(?<expiry>[\da-z]+)\.(?<value>[\w.-]*)\.(?<mac>[\w-]{43})$/;

/**
 * HMAC-SHA256 with a key that is derived from a private key on P-256 (RFC 5869), so that instances that sign the same tokens open each
 * other's values. After a change of that key, a browser gets new ones.
 */
export const signedValues = (privateKey: KeyObject): Pick<Secrets, 'sign' | 'unsign'> => {
  const { d = '' } = privateKey.export({ format: 'jwk' });
  const key = Buffer.from(hkdfSync('sha256', Buffer.from(d, 'base64url'), '', 'seals of devices', 32));
  const macOf = (purpose: SignedPurpose, text: string): string =>
    createHmac('sha256', key).update(`${purpose}.${text}`).digest('base64url');
  return {
    sign: ({ purpose, userId, sessionId, value, expiresAt }) => {
      const text = `${userId}.${sessionId}.${expiresAt.toString(36)}.${value}`;
      return `${text}.${macOf(purpose, text)}`;
    },
    unsign: (text, purpose, now) => {
      const parts = text.length > MAX_LENGTH ? null : SIGNED.exec(text);
      if (parts === null) return null;
      const { userId = '', sessionId = '', expiry = '', value = '', mac = '' } = parts.groups ?? {};
      const expected = macOf(purpose, text.slice(0, -mac.length - 1));
      if (!timingSafeEqual(Buffer.from(mac), Buffer.from(expected))) return null;
      const expiresAt = Number.parseInt(expiry, 36);
      return now < expiresAt ? { purpose, userId, sessionId, value, expiresAt } : null;
    },
  };
};
