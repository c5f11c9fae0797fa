import { expect } from 'vitest';
import type { DeviceSeals, Sealed, SealPurpose } from '../../src/application/ports/device-seals.ts';
import { vitestSuite } from './suite.ts';

const NOW = Date.UTC(2026, 0, 1);
const SEALED: Sealed = {
  purpose: 'cookie',
  userId: '01J00000000000000000000001',
  sessionId: '01J00000000000000000000002',
  value: `${'x'.repeat(43)}.${'Y'.repeat(42)}-`,
  expiresAt: NOW + 60_000,
};
const PURPOSES: readonly SealPurpose[] = [
  ...(['registration', 'challenge', 'browser', 'cookie'] as const),
  ...(['passkey-registration', 'passkey-use'] as const),
];
const OTHERS: readonly Partial<Sealed>[] = [
  { userId: '01J00000000000000000000009' },
  { sessionId: '01J00000000000000000000009' },
  { userId: '', sessionId: '' },
  { value: '' },
  { expiresAt: NOW + 60_001 },
];

/** @param make makes the seals of a new instance. Instances have one key, unless it is given another. */
export const describeDeviceSeals = (
  name: string,
  make: (key?: string) => DeviceSeals,
  { describe, it } = vitestSuite,
): void => {
  describe(`${name} as DeviceSeals`, () => {
    it('opens what another instance with the same key has sealed', () => {
      for (const given of [{}, ...OTHERS, ...PURPOSES.map((purpose) => ({ purpose }))]) {
        const sealed = { ...SEALED, ...given };
        expect(make().open(make().seal(sealed), sealed.purpose, NOW)).toEqual(sealed);
      }
    });

    it('makes a text of at most 300 letters, digits, dots, underscores and hyphens', () => {
      expect(make().seal({ ...SEALED, value: 'x'.repeat(100) })).toMatch(/^[\w.-]{1,300}$/);
    });

    it('opens a seal for its purpose alone', () => {
      const seals = make();
      for (const purpose of PURPOSES) {
        const text = seals.seal({ ...SEALED, purpose });
        expect(PURPOSES.filter((other) => seals.open(text, other, NOW) !== null)).toEqual([purpose]);
      }
    });

    it('opens a seal until it expires', () => {
      const seals = make();
      const text = seals.seal(SEALED);
      expect(seals.open(text, 'cookie', SEALED.expiresAt - 1)).toEqual(SEALED);
      expect(seals.open(text, 'cookie', SEALED.expiresAt)).toBeNull();
    });

    it('does not open a text that was changed in any part', () => {
      const seals = make();
      const text = seals.seal(SEALED);
      const parts = text.split('.');
      for (const [at, character] of [...text].entries()) {
        const changed = `${text.slice(0, at)}${character === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
        expect(seals.open(changed, 'cookie', NOW)).toBeNull();
      }
      for (const other of OTHERS) {
        const others = seals.seal({ ...SEALED, ...other }).split('.');
        for (const [at] of parts.entries()) {
          const mixed = parts.with(at, others[at] ?? '').join('.');
          if (mixed !== text) expect(seals.open(mixed, 'cookie', NOW)).toBeNull();
        }
      }
    });

    it('does not open what another key has sealed', () => {
      expect(make().open(make('another').seal(SEALED), 'cookie', NOW)).toBeNull();
    });

    it('does not open a text that is no seal', () => {
      const seals = make();
      const text = seals.seal(SEALED);
      const texts = [
        '',
        '.',
        '....',
        ' ',
        'null',
        '{}',
        '\0',
        'ä',
        `${text}A`,
        `${text} `,
        ` ${text}`,
        `${text}.`,
        text.slice(1),
      ];
      for (const other of [...texts, text.slice(0, -1), `${text}\n`, 'a.'.repeat(10_000), text.repeat(2)])
        expect(seals.open(other, 'cookie', NOW)).toBeNull();
    });
  });
};
