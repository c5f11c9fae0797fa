import crypto from 'node:crypto';

type ShaCrypt = { readonly digest: 'sha256' | 'sha512'; readonly rounds: number; readonly salt: Buffer };

/** Three bytes at a time, each from another third of the digest, and those that are left over. */
const order = (third: number, step: number, rest: readonly number[]): readonly number[] => [
  ...Array.from({ length: third }, (_, at) => at * step).flatMap((first) =>
    [2, 1, 0].map((part) => (first + part * third) % (3 * third)),
  ),
  ...rest,
];
const ORDER = { sha256: order(10, 21, [30, 31]), sha512: order(21, 22, [63]) };

/** As in libxcrypt. The time of each round grows with the password. */
const MAX_PASSWORD_BYTES = 512;

/**
 * `$5$` and `$6$` of crypt(3): https://www.akkadia.org/drepper/SHA-crypt.txt.
 * @returns the bytes in the order in which the text of a hash has them; none, if the password is too long.
 */
export const shaCrypt = (password: Buffer, { digest, rounds, salt }: ShaCrypt): Buffer | null => {
  if (password.length > MAX_PASSWORD_BYTES) return null;
  const hashed = (...parts: readonly Buffer[]) => crypto.hash(digest, Buffer.concat(parts), 'buffer');
  const repeated = (times: number, part: Buffer) => hashed(...Array.from({ length: times }, () => part));
  const { length } = password;
  const inner = hashed(password, salt, password);
  const bits = [...length.toString(2)].reverse().map((bit) => (bit === '1' ? inner : password));
  let key = hashed(password, salt, Buffer.alloc(length, inner), ...bits);
  const ofPassword = Buffer.alloc(length, repeated(length, password));
  const ofSalt = Buffer.alloc(salt.length, repeated(16 + key.readUInt8(0), salt));
  for (let round = 0; round < rounds; round += 1) {
    const [first, last] = round % 2 === 0 ? [key, ofPassword] : [ofPassword, key];
    key = hashed(first, ...(round % 3 === 0 ? [] : [ofSalt]), ...(round % 7 === 0 ? [] : [ofPassword]), last);
  }
  return Buffer.from(ORDER[digest].map((at) => key.readUInt8(at)));
};
