/** Keys of 32 bytes that encrypt the secrets of factors. */
const KEYS = { a: Buffer.alloc(32, 1), b: Buffer.alloc(32, 2) };
type Name = keyof typeof KEYS;

export const factorKeys = ([first, ...others]: readonly [Name, ...Name[]]): [Buffer, ...Buffer[]] => [
  KEYS[first],
  ...others.map((name) => KEYS[name]),
];
