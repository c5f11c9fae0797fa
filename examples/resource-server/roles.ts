import type { JWTPayload } from 'jose';

/**
 * Whether the operator of Tandem has stated this role about the user: `npm run users -- set-attributes NAME '{"roles":["admin"]}'`. A token
 * of a user without attributes has no such claim.
 */
export const hasRole = ({ attributes }: JWTPayload, role: string): boolean => {
  const { roles } = (attributes ?? {}) as { readonly roles?: unknown };
  return Array.isArray(roles) && roles.includes(role);
};
