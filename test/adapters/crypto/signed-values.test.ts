import { createPrivateKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signedValues } from '../../../src/adapters/crypto/secrets.ts';
import type { SignedPurpose, SignedValue } from '../../../src/application/ports/secrets.ts';
import { testKeyPair } from '../../support/keys.ts';

const NOW = Date.UTC(2026, 0, 1);
const VALUE: SignedValue = {
  purpose: 'cookie',
  userId: '01J00000000000000000000001',
  sessionId: '01J00000000000000000000002',
  value: `${'x'.repeat(43)}.${'Y'.repeat(42)}-`,
  expiresAt: NOW + 60_000,
};
const PURPOSES: readonly SignedPurpose[] = [
  ...(['registration', 'challenge', 'browser', 'cookie'] as const),
  ...(['passkey-registration', 'passkey-use'] as const),
];
const OTHERS: readonly Partial<SignedValue>[] = [
  { userId: '01J00000000000000000000009' },
  { sessionId: '01J00000000000000000000009' },
  { userId: '', sessionId: '' },
  { value: '' },
  { expiresAt: NOW + 60_001 },
];

const KEY = testKeyPair().privateKey;
const { sign, unsign } = signedValues(KEY);

describe('signedValues', () => {
  it('accepts what another instance with the same key has signed', () => {
    for (const given of [{}, ...OTHERS, ...PURPOSES.map((purpose) => ({ purpose }))]) {
      const value = { ...VALUE, ...given };
      expect(signedValues(KEY).unsign(sign(value), value.purpose, NOW)).toEqual(value);
    }
  });

  it('makes a text of at most 300 letters, digits, dots, underscores and hyphens', () => {
    expect(sign({ ...VALUE, value: 'x'.repeat(100) })).toMatch(/^[\w.-]{1,300}$/);
  });

  it('accepts a value for its purpose alone', () => {
    for (const purpose of PURPOSES) {
      const text = sign({ ...VALUE, purpose });
      expect(PURPOSES.filter((other) => unsign(text, other, NOW) !== null)).toEqual([purpose]);
    }
  });

  it('accepts a value until it expires', () => {
    const text = sign(VALUE);
    expect(unsign(text, 'cookie', VALUE.expiresAt - 1)).toEqual(VALUE);
    expect(unsign(text, 'cookie', VALUE.expiresAt)).toBeNull();
  });

  it('does not accept a text that was changed in any part', () => {
    const text = sign(VALUE);
    const parts = text.split('.');
    for (const [at, character] of [...text].entries()) {
      const changed = `${text.slice(0, at)}${character === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
      expect(unsign(changed, 'cookie', NOW)).toBeNull();
    }
    for (const other of OTHERS) {
      const others = sign({ ...VALUE, ...other }).split('.');
      for (const [at] of parts.entries()) {
        const mixed = parts.with(at, others[at] ?? '').join('.');
        if (mixed !== text) expect(unsign(mixed, 'cookie', NOW)).toBeNull();
      }
    }
  });

  it('does not accept what another key has signed', () => {
    expect(unsign(signedValues(testKeyPair().privateKey).sign(VALUE), 'cookie', NOW)).toBeNull();
  });

  it('does not accept any other text', () => {
    const text = sign(VALUE);
    const texts = [
      ...['', '.', '....', ' ', 'null', '{}', '\0', 'ä', `${text}A`, `${text} `, ` ${text}`, `${text}.`],
      text.slice(1),
    ];
    for (const other of [...texts, text.slice(0, -1), `${text}\n`, 'a.'.repeat(10_000), text.repeat(2)])
      expect(unsign(other, 'cookie', NOW)).toBeNull();
  });

  it.each(['sec1', 'pkcs8'] as const)('have one key for each form of the private key: %s', (type) => {
    const read = createPrivateKey(KEY.export({ type, format: 'pem' }));
    expect(signedValues(read).unsign(sign(VALUE), 'cookie', NOW)).toEqual(VALUE);
  });
});
