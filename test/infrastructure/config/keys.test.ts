// Proves SPEC 13.5, 13.10, 15.1, 15.2, 15.3, 15.4, 15.5, 15.6; ASVS 11.2.3; operator-1
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/infrastructure/config.ts';
import { blamed } from '../../support/config-problems.ts';
import { NO_WARNINGS } from '../../support/processes/environments.ts';

const pair = (namedCurve = 'P-256') => generateKeyPairSync('ec', { namedCurve });
const pkcs8 = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const sec1 = (key: KeyObject) => key.export({ type: 'sec1', format: 'pem' }).toString();
const spki = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();

const [access, refresh, other, p384] = [pair(), pair(), pair(), pair('P-384')];
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEYS = {
  JWT_ACCESS_PRIVATE_KEY: pkcs8(access.privateKey),
  JWT_ACCESS_PUBLIC_KEY: spki(access.publicKey),
  JWT_REFRESH_PRIVATE_KEY: pkcs8(refresh.privateKey),
  JWT_REFRESH_PUBLIC_KEY: spki(refresh.publicKey),
};
const NAMES = Object.keys(KEYS);
const escaped = (text: string) => text.replaceAll('\n', '\\n');
const PARAMETERS = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';

it.each([
  ['with real line breaks', {}],
  ['with escaped line breaks', Object.fromEntries(Object.entries(KEYS).map(([name, text]) => [name, escaped(text)]))],
  ['with Windows line breaks', { JWT_ACCESS_PRIVATE_KEY: KEYS.JWT_ACCESS_PRIVATE_KEY.replaceAll('\n', '\r\n') }],
  ['in SEC1', { JWT_ACCESS_PRIVATE_KEY: sec1(access.privateKey), JWT_REFRESH_PRIVATE_KEY: sec1(refresh.privateKey) }],
  ['in SEC1 behind their curve', { JWT_ACCESS_PRIVATE_KEY: PARAMETERS + sec1(access.privateKey) }],
])('keys are read %s', (_how, changes) => {
  const { keys } = parseConfig({ ...KEYS, ...changes });
  expect(keys?.access.privateKey.equals(access.privateKey)).toBe(true);
  expect(keys?.refresh.privateKey.equals(refresh.privateKey)).toBe(true);
  expect(keys?.access.publicKeys.map(spki)).toEqual([spki(access.publicKey)]);
  expect(keys?.refresh.publicKeys.map(spki)).toEqual([spki(refresh.publicKey)]);
});

it.each([
  ['real', (text: string) => text],
  ['escaped', escaped],
])('there may be several public keys, in their order, with %s line breaks', (_how, write) => {
  const several = [access.publicKey, other.publicKey].map(spki);
  const { keys } = parseConfig({ ...KEYS, JWT_ACCESS_PUBLIC_KEY: write(several.join('')) });
  expect(keys?.access.publicKeys.map(spki)).toEqual(several);
});

const truncated = KEYS.JWT_ACCESS_PRIVATE_KEY.slice(0, 100);
const encrypted = access.privateKey
  .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
  .toString();
const ofPrivate = (text: string) => ({ JWT_ACCESS_PRIVATE_KEY: text });
const ofPublic = (text: string) => ({ JWT_REFRESH_PUBLIC_KEY: text });
const swapped = {
  JWT_ACCESS_PUBLIC_KEY: KEYS.JWT_REFRESH_PUBLIC_KEY,
  JWT_REFRESH_PUBLIC_KEY: KEYS.JWT_ACCESS_PUBLIC_KEY,
};
const onePair = {
  JWT_REFRESH_PRIVATE_KEY: KEYS.JWT_ACCESS_PRIVATE_KEY,
  JWT_REFRESH_PUBLIC_KEY: KEYS.JWT_ACCESS_PUBLIC_KEY,
};

describe.each(['development', 'test', 'production'])('in %s', (environment) => {
  it.each([
    ['a private key that is none', ofPrivate('secret')],
    ['a private key cut short', ofPrivate(truncated)],
    ['an encrypted private key', ofPrivate(encrypted)],
    ['two private keys', ofPrivate(pkcs8(access.privateKey) + pkcs8(other.privateKey))],
    ['a public key as the private one', ofPrivate(spki(access.publicKey))],
    ['a private key on P-384', ofPrivate(pkcs8(p384.privateKey))],
    ['a private RSA key', ofPrivate(pkcs8(rsa.privateKey))],
    ['a public key that is none', ofPublic('secret')],
    ['a private key as the public one', ofPublic(pkcs8(refresh.privateKey))],
    ['a public key on P-384', ofPublic(spki(p384.publicKey))],
    ['a public RSA key', ofPublic(spki(rsa.publicKey))],
    ['a second public key on P-384', ofPublic(spki(refresh.publicKey) + spki(p384.publicKey))],
    ['a second public key cut short', ofPublic(spki(refresh.publicKey) + truncated)],
    ['a public key of another pair', ofPublic(spki(other.publicKey))],
    ['the current public key in second place', ofPublic(spki(other.publicKey) + spki(refresh.publicKey))],
    ['a retired public key of the other token', ofPublic(spki(refresh.publicKey) + spki(access.publicKey))],
    ['swapped halves', swapped],
    ['one pair for both tokens', onePair, ['JWT_REFRESH_PUBLIC_KEY']],
    ...NAMES.map((name): [string, object] => [`three keys of four, without ${name}`, { [name]: undefined }]),
  ] as [string, Readonly<Record<string, string>>, string[]?][])('%s: refused', (_what, changes, names) => {
    expect(blamed({ ...NO_WARNINGS, ...KEYS, NODE_ENV: environment, ...changes })).toEqual(
      names ?? Object.keys(changes),
    );
  });
});

it('production needs all four', () => {
  expect(blamed({ ...NO_WARNINGS, ...Object.fromEntries(NAMES.map((name) => [name, ''])) })).toEqual(NAMES);
});
