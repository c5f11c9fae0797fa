/** Firebase's "password hash parameters". */
export type FirebaseConfig = {
  /** Base64, as the two texts of the user are. */
  readonly signerKey: string;
  readonly saltSeparator: string;
  readonly rounds: number;
  readonly memCost: number;
};

/**
 * A hash of Firebase's users. It is the project's signer key, encrypted by AES in counter mode, with a key that scrypt derives from the password.
 * Without the signer key the key stream is left, which is compared as well, so the signer key need not be stored.
 */
export const firebaseHash = (
  user: { readonly hash: string; readonly salt: string },
  config: FirebaseConfig,
): string => {
  const [hash, signerKey] = [Buffer.from(user.hash, 'base64'), Buffer.from(config.signerKey, 'base64')];
  // Another length would leave a part of the key stream unknown: an empty key is refused where the hash is read.
  const keyStream =
    hash.length === signerKey.length ? hash.map((byte, at) => byte ^ (signerKey[at] ?? 0)) : Buffer.alloc(0);
  const salt = Buffer.concat([Buffer.from(user.salt, 'base64'), Buffer.from(config.saltSeparator, 'base64')]);
  return `$firebase-scrypt$ln=${config.memCost},r=${config.rounds}$${salt.toString('base64')}$${Buffer.from(keyStream).toString('base64')}`;
};
