import { createHash } from 'node:crypto';

/** A key of constant length. It is hashed because users sometimes type their password into the account field. */
export const hashedKey = (key: string): string => createHash('sha256').update(key).digest('base64url');
