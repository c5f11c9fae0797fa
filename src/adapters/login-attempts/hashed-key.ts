import { createHash } from 'node:crypto';

/** Of one length whatever it is made of; people type passwords into the field for the account, too. */
export const hashedKey = (key: string): string => createHash('sha256').update(key).digest('base64url');
