export { AuthError } from './auth-error.ts';
export { createAuthClient } from './create-auth-client.ts';
export type * from './types.ts';
