import { createHash } from 'node:crypto';

/** A strong entity tag without its quotes (RFC 9110 §8.8.3). */
export const etagOf = (content: string): string => createHash('sha256').update(content).digest('base64url');
