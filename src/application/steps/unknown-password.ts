import type { LinkTokens } from '../ports/link-tokens.ts';
import type { PasswordHasher } from '../ports/password-hasher.ts';

type UnknownPasswordDeps = { readonly hasher: PasswordHasher; readonly linkTokens: LinkTokens };

/** @returns a function that returns the hash of a password which nobody knows. The first call computes it. */
export const unknownPassword = ({ hasher, linkTokens }: UnknownPasswordDeps): (() => Promise<string>) => {
  let computed: Promise<string> | undefined;
  return () => {
    computed ??= hasher.hash(linkTokens.next()).catch((error: unknown) => {
      computed = undefined;
      throw error;
    });
    return computed;
  };
};
