import { describe, expect, it } from 'vitest';
import { canonicalHash, firebaseHash } from '../../../src/adapters/crypto/foreign/canonical-hash.ts';
import type { ForeignHash, HashProblem, SlowHash } from '../../../src/adapters/crypto/foreign/foreign-hash.ts';
import { matchesHash } from '../../../src/adapters/crypto/foreign/matches-hash.ts';
import { readHash } from '../../../src/adapters/crypto/foreign/read-hash.ts';
import { keycloakHash, storableHash } from '../../../src/adapters/crypto/foreign/storable-hash.ts';
import { passwordHasher } from '../../../src/adapters/crypto/password-hasher.ts';
import { readText } from '../../support/checkout/repository.ts';
import { facts } from '../../support/foreign-hashes.ts';
import { watchedThreads } from '../../support/watched-threads.ts';

const hasher = passwordHasher({ cost: 4, maxWait: Number.POSITIVE_INFINITY });

/** The hash as it is stored. */
const stored = async (text: string): Promise<string> => {
  const result = await storableHash(text, hasher);
  if ('problem' in result) throw new Error(`The hash ${result.problem}.`);
  return result.passwordHash;
};

const { config } = facts.firebase;
const ALL = [
  ...facts.hashes,
  ...facts.keycloak.map(({ credential, ...fact }) => ({ ...fact, hash: keycloakHash(credential) })),
  ...facts.firebase.users.map((user) => ({ ...user, ...facts.firebase, hash: firebaseHash(user, config) })),
].map(({ madeBy, hash, password }) => ({ madeBy, hash, password }));

describe('a hash of another library', () => {
  it.each(ALL)('matches its password only, and is replaced: $madeBy $hash', async ({ hash, password }) => {
    const passwordHash = await stored(hash);
    expect(await hasher.verify(password, passwordHash)).toBe(true);
    expect(hasher.needsRehash(passwordHash)).toBe(true);
    const wrong = [
      `X${password}`,
      password.toUpperCase(),
      password.slice(1),
      '',
      hash,
      `${password}\0`,
      `${password}\ud800`,
    ];
    expect(await Promise.all(wrong.map((other) => hasher.verify(other, passwordHash)))).toEqual(wrong.map(() => false));
  });

  it.each(ALL.filter(({ hash }) => /^(?:md5|sha1|sha256|\$[PH]\$|\{S?SHA(?!.*CRYPT))/.test(hash)))(
    'does not rest as a digest: $hash',
    async ({ hash, password }) => {
      const read = readHash(canonicalHash(hash));
      const { hex } = 'hex' in read ? read : expect.unreachable();
      expect(hex).toMatch(/^[0-9a-f]{32,128}$/);
      expect((await stored(hash)).toLowerCase()).not.toContain(hex);
      expect(await hasher.verify(password, hash)).toBe(false);
    },
  );

  it.each([
    ['crypt(3)', `$6$rounds=131072$a.salt/8$${'.'.repeat(86)}`],
    ['phpass', `phpass$E12345678$$2b$04$${'.'.repeat(53)}`],
  ])('of %s is not compared with a password that takes longer the longer it is', async (_name, hash) => {
    const started = performance.now();
    expect(matchesHash('x'.repeat(16_384), readHash(hash) as SlowHash)).toBe(false);
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  it('keeps nothing of the signer key of Firebase', async () => {
    const [user = expect.unreachable()] = facts.firebase.users;
    const text = await stored(firebaseHash(user, config));
    expect(text).not.toContain(config.signerKey.slice(0, 16));
    expect(text).not.toContain(user.hash.slice(0, 16));
    const otherKey = { ...config, signerKey: `A${config.signerKey.slice(1)}` };
    expect(await hasher.verify(user.password, await stored(firebaseHash(user, otherKey)))).toBe(false);
  });

  it('rejects every password when the stored text cannot be read', async () => {
    for (const text of ['', 'bcrypt$', '$argon2id$', '!unusable', 'x'.repeat(100_000)]) {
      expect([text.length, await hasher.verify(text, text)]).toEqual([text.length, false]);
    }
  });

  it('is compared one at a time if it needs much memory, and a wrong password never takes less than a hash of this service', async () => {
    const { tasks, load, run } = watchedThreads();
    const watched = passwordHasher({ cost: 5, runner: { width: 4, run } });
    const hash = '$scrypt$ln=10,r=8,p=1$4rx3zlkrRWgthTAGIIQwRg$nSTUWelkaeXkwY3RoDf9z5uhiKSdR30aF3vtjXy2UE8';
    await Promise.all(Array.from({ length: 6 }, () => watched.verify('a password', hash)));
    expect([tasks.length, load.most]).toEqual([6, 1]);
    expect(tasks[0]).toMatchObject({ dummies: [expect.stringMatching(/^\$2b\$05\$/)] });
  });
});

it('every form that docs/moving/README.md names for another system is among these hashes', () => {
  const [, table = ''] = /## Another system\n([\s\S]*?)\nWrite digests/.exec(readText('docs/moving/README.md')) ?? [];
  const forms = [...table.matchAll(/^\| .* \|$/gm)].flatMap(([row]) => row.match(/(?<=`)[^`\s|,]+(?=`)/g) ?? []);
  expect(forms.length).toBeGreaterThan(25);
  const beginning = (form: string) => form.split(/…|SALT/)[0] ?? '';
  expect(forms.filter((form) => !ALL.some(({ hash }) => hash.startsWith(beginning(form))))).toEqual([]);
});

const SALT = 'c2l4dGVlbiBieXRlcyEhIQ';
const KEY = 'DFiVwPGn+gr8pV81VQK1pDxNz4VbwusoWNMehYnzFxM';
const REST = '8yqySi/YuJy69OLjKVHV0.2Ct.IGTlMniJKiGzRsM.aDrx4GphhPC';
const problemOf = (read: ForeignHash | HashProblem) => ('problem' in read ? read.problem : read.scheme);

describe('readHash', () => {
  it.each([
    ['bcrypt', `$2b$14$${REST}`],
    ['argon2', `$argon2id$v=19$m=131072,t=2,p=255$${SALT}$${KEY}`],
    ['scrypt', `$scrypt$ln=17,r=8,p=1$${SALT}$${KEY}`],
    ['pbkdf2', `pbkdf2_sha256$2500000$a salt of text$${KEY}=`],
    ['pbkdf2', `$pbkdf2-sha512$i=2500000,l=32$${SALT}$${KEY}`],
    ['sha-crypt', `$6$rounds=131072$a.salt/8$${'.'.repeat(86)}`],
    ['sha-crypt', `{SHA256-CRYPT}$5$rounds=1000$a.salt/8$${'.'.repeat(43)}`],
  ])('accepts %s at the limits: %s', (scheme, text) => {
    expect(problemOf(readHash(canonicalHash(text)))).toBe(scheme);
  });

  it.each([
    ['more than a second', `$2b$15$${REST}`],
    ['out of range', `$2b$03$${REST}`],
    ['more than a second', `$argon2id$v=19$m=131073,t=1,p=1$${SALT}$${KEY}`],
    ['more than a second', `$argon2id$v=19$m=65536,t=5,p=1$${SALT}$${KEY}`],
    ['out of range', `$argon2id$v=19$m=4294967297,t=1,p=1$${SALT}$${KEY}`],
    ['out of range', `$argon2id$v=19$m=65536,t=0,p=1$${SALT}$${KEY}`],
    ['out of range', `$argon2id$v=19$m=64,t=1,p=9$${SALT}$${KEY}`],
    ['out of range', `$argon2id$v=19$m=65536,t=3$${SALT}$${KEY}`],
    ['out of range', `$argon2id$v=19$m=65536,m=65536,p=1$${SALT}$${KEY}`],
    ['out of range', `$argon2id$v=19$m=65536,t=3,p=1,keyid=x$${SALT}$${KEY}`],
    ['out of range', `$argon2id$v=19$m=1e3,t=3,p=1$${SALT}$${KEY}`],
    ['other than 1.3', `$argon2id$v=16$m=65536,t=3,p=1$${SALT}$${KEY}`],
    ['names no version', `$argon2i$m=65536,t=2,p=1$${SALT}$${KEY}`],
    ['salt of fewer than 8', `$argon2id$v=19$m=65536,t=3,p=1$c2l4dGU$${KEY}`],
    ['digest of fewer than 16', `$argon2id$v=19$m=65536,t=3,p=1$${SALT}$c2l4dGVl`],
    ['none of the known', `$argon2id$v=19$m=65536,t=3,p=1$${SALT}$`],
    ['none of the known', `$argon2id$v=19$m=65536,t=3,p=1$$${KEY}`],
    ['more than a second', `$scrypt$ln=18,r=8,p=1$${SALT}$${KEY}`],
    ['more than a second', `$scrypt$ln=14,r=8,p=9$${SALT}$${KEY}`],
    ['more than a second', `$scrypt$ln=1,r=524288,p=1$${SALT}$${KEY}`],
    ['more than a second', `$scrypt$ln=1,r=1,p=524288$${SALT}$${KEY}`],
    ['out of range', `$scrypt$ln=9999999999,r=8,p=1$${SALT}$${KEY}`],
    ['out of range', `$scrypt$ln=16,r=1,p=1$${SALT}$${KEY}`],
    ['out of range', `scrypt$1000$a salt of text$8$1$${KEY}`],
    ['out of range', `scrypt$0$a salt of text$8$1$${KEY}`],
    ['salt of fewer than 8', `scrypt$1024$short$8$1$${KEY}`],
    ['more than a second', `$firebase-scrypt$ln=30,r=8$${SALT}$${KEY}`],
    ['more than a second', `pbkdf2_sha256$2500001$a salt of text$${KEY}`],
    ['more than a second', `$pbkdf2-sha1$1250000$${SALT}$${KEY}`.replace(KEY, KEY + KEY.slice(0, 40))],
    ['out of range', `$pbkdf2-sha256$0$${SALT}$${KEY}`],
    ['none of the known', `$pbkdf2-sha256$99999999999$${SALT}$${KEY}`],
    ['none of the known', '0123456789abcdef0123456789abcdef:'],
    ['none of the known', 'md5$salt$'],
    ['wrong length', 'sha256$salt$00112233445566778899aabbccddeeff'],
    ['none of the known', '00112233445566778899aabbccddeeff'],
    ['none of the known', 'secretsalt$00112233445566778899aabbccddeeff'],
    ['none of the known forms; its scheme is $2b$', '$2b$10$tooshort'],
    ['none of the known forms; its scheme is $P$', '$P$BpW5bRPlmCdNYIFgkFfHhHbN1'],
    ['none of the known forms; its scheme is {SSHA}', '{SSHA}bpW5bRPlmCdNYIFg'],
    ['none of the known forms; its scheme is {noop}', '{noop}secret'],
    ['none of the known forms; its scheme is pbkdf2:', 'pbkdf2:md5:10$salt$00'],
    ['none of the known forms', `AQAAAAMAAAAnAAAAABA${'A'.repeat(61)}`],
    ['none of the known', `AQAAAAEAACcQAAAAAA${'A'.repeat(62)}`],
    ['more than a second', 'phpass$F12345678$00112233445566778899aabbccddeeff'],
    ['more than a second', `$6$rounds=131073$a.salt/8$${'.'.repeat(86)}`],
    ['out of range', `$5$rounds=999$a.salt/8$${'.'.repeat(43)}`],
    ['salt of fewer than 8', `$5$short$${'.'.repeat(43)}`],
    ['wrong length', `$6$a.salt/8$${'.'.repeat(43)}`],
    ['none of the known forms; its scheme is $6$', `$6$rounds=1e9$a.salt/8$${'.'.repeat(86)}`],
    ['none of the known forms; its scheme is pbkdf2_sha512$', 'pbkdf2_sha512$1$salt$key'],
    ['longer than 512', `$2b$${'1'.repeat(512)}`],
  ])('refuses, as it %s: %s', (reason, text) => {
    expect(problemOf(readHash(canonicalHash(text)))).toContain(reason);
    expect(problemOf(readHash(canonicalHash(text)))).not.toContain('secret');
  });

  it('refuses a hash of Firebase with a signer key of another length, and an unknown algorithm of Keycloak', () => {
    const user = { hash: 'AAAA', salt: 'c2l4dGVlbiBieXRlcyEhIQ==' };
    const credential = { algorithm: 'pbkdf2-md4', hashIterations: 1, value: KEY, salt: SALT };
    expect(problemOf(readHash(firebaseHash(user, config)))).toContain('none of the known');
    expect(problemOf(readHash(keycloakHash(credential)))).toContain('none of the known');
  });
});
