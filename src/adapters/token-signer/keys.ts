import type { KeyObject } from 'node:crypto';

/** The keys of one kind of token, on P-256. */
export type KeyPair = {
  readonly privateKey: KeyObject;
  /** The first belongs to `privateKey`; the others only verify. */
  readonly publicKeys: readonly KeyObject[];
};

/** Each kind of token has its own key pair. SPEC "Token scheme". */
export type TokenKeys = { readonly access: KeyPair; readonly refresh: KeyPair };
