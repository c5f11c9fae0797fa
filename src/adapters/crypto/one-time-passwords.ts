import { createHmac } from 'node:crypto';
import { BASE32, CODE_DIGITS } from '../../domain/second-factor.ts';

/** RFC 4648 §6. The bits that fill no byte are dropped. */
const bytesOf = (secret: string): Buffer => {
  const bits = [...secret].map((character) => BASE32.indexOf(character).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
};

/** RFC 4226 §5.3: the 31 bits at the offset that the last four bits name. */
const truncated = (mac: Buffer): number => mac.readUInt32BE((mac[mac.length - 1] ?? 0) & 0xf) & 0x7fff_ffff;

/** RFC 6238, with HMAC-SHA-1. @param secret in Base32. @param step a number of periods since 1970. */
export const oneTimePassword = (secret: string, step: number): string => {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', bytesOf(secret)).update(counter).digest();
  return `${truncated(mac) % 10 ** CODE_DIGITS}`.padStart(CODE_DIGITS, '0');
};
