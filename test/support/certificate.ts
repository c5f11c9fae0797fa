import { generateKeyPairSync, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** DER (X.690): a tag, the length of the contents and the contents. */
const tlv = (tag: number, ...contents: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(body)]), body]);
};

/** In as few bytes as possible: NSS refuses others. */
const lengthOf = ({ length }: Buffer): readonly number[] => {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
};

const sequence = (...contents: readonly Buffer[]) => tlv(0x30, ...contents);
const integer = (value: number) => tlv(0x02, Buffer.from([value]));
const oid = (hex: string) => tlv(0x06, Buffer.from(hex, 'hex'));
const utcTime = (time: Date) =>
  tlv(
    0x17,
    Buffer.from(
      `${time
        .toISOString()
        .replaceAll(/[-:T]|\.\d+/g, '')
        .slice(2)}`,
    ),
  );
const pem = (label: string, der: Buffer) =>
  `-----BEGIN ${label}-----\n${der.toString('base64').replaceAll(/.{1,64}/g, '$&\n')}-----END ${label}-----\n`;

const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'));
const COMMON_NAME = oid('550403');
const BASIC_CONSTRAINTS = oid('551d13');
const SUBJECT_ALT_NAME = oid('551d11');
const DAY = 86_400_000;

const extension = (id: Buffer, value: Buffer) => sequence(id, tlv(0x04, value));

/** A certificate in PEM, and its key. */
export type Certificate = { readonly cert: string; readonly key: string };

/**
 * A certificate that signs itself (RFC 5280), for a DNS name or an IPv4 address, and its key. Valid for a day before and after a time,
 * today by default.
 */
export const selfSigned = (name: string, at = Date.now()): Certificate => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const alternative = isIPv4(name) ? tlv(0x87, Buffer.from(name.split('.').map(Number))) : tlv(0x82, Buffer.from(name));
  const names = sequence(tlv(0x31, sequence(COMMON_NAME, tlv(0x0c, Buffer.from(name)))));
  const body = sequence(
    tlv(0xa0, integer(2)),
    integer(1),
    ECDSA_WITH_SHA256,
    names,
    sequence(utcTime(new Date(at - DAY)), utcTime(new Date(at + DAY))),
    names,
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(
      0xa3,
      sequence(
        extension(BASIC_CONSTRAINTS, sequence(tlv(0x01, Buffer.from([0xff])))),
        extension(SUBJECT_ALT_NAME, sequence(alternative)),
      ),
    ),
  );
  const signature = sign('sha256', body, privateKey);
  const certificate = sequence(body, ECDSA_WITH_SHA256, tlv(0x03, Buffer.from([0]), signature));
  return {
    cert: pem('CERTIFICATE', certificate),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
};
