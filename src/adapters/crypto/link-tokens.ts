import { createHash, randomBytes } from 'node:crypto';
import type { LinkTokens } from '../../application/ports/link-tokens.ts';

/** Bytes: 256 bits. */
const SIZE = 32;

export const randomLinkTokens = (): LinkTokens => ({
  next: () => randomBytes(SIZE).toString('base64url'),
  hashOf: (token) => createHash('sha256').update(token).digest('base64url'),
});
