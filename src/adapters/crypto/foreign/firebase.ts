export type FirebaseConfig = {
  /** Base64, as the two texts of the user are. */
  readonly signerKey: string;
  readonly saltSeparator: string;
  readonly rounds: number;
  readonly memCost: number;
};

/**
 * The hash of a user of Firebase in a form of ./read-hash.ts. Firebase encrypts the project's signer key by AES in counter mode, with a key that scrypt
 * derives from the password. Here the signer key is removed by XOR, and the key stream that is left is stored.
 */
export const firebaseHash = (
  user: { readonly hash: string; readonly salt: string },
  config: FirebaseConfig,
): string => {
  const [hash, signerKey] = [Buffer.from(user.hash, 'base64'), Buffer.from(config.signerKey, 'base64')];
  // With another length, a part of the key stream is unknown. `readHash` refuses the empty key.
  const keyStream =
    hash.length === signerKey.length ? hash.map((byte, at) => byte ^ (signerKey[at] ?? 0)) : Buffer.alloc(0);
  const salt = Buffer.concat([Buffer.from(user.salt, 'base64'), Buffer.from(config.saltSeparator, 'base64')]);
  return `$firebase-scrypt$ln=${config.memCost},r=${config.rounds}$${salt.toString('base64')}$${Buffer.from(keyStream).toString('base64')}`;
};
