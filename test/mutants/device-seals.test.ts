import { hmacDeviceSeals } from '../../src/adapters/crypto/device-seals.ts';
import type { DeviceSeals, Sealed } from '../../src/application/ports/device-seals.ts';
import { describeDeviceSeals } from '../contracts/device-seals.contract.ts';
import { testKeyPair } from '../support/keys.ts';
import { describeMutants } from './harness/describe-mutants.ts';

type Make = (key?: string) => DeviceSeals;

const keys = new Map<string, DeviceSeals>();
const correct: Make = (key = '') => {
  const seals = keys.get(key) ?? hmacDeviceSeals(testKeyPair().privateKey);
  keys.set(key, seals);
  return seals;
};

const opening =
  (change: (seals: DeviceSeals) => Partial<DeviceSeals>): Make =>
  (key) => ({ ...correct(key), ...change(correct(key)) });

/** Sealed and opened in the place of the given one. */
const instead = (other: (content: Sealed) => Sealed): Make =>
  opening((seals) => ({ seal: (content) => seals.seal(other(content)) }));

const ANY = 'opens what another instance with the same key has sealed';
const CHANGED = 'does not open a text that was changed in any part';
const NONE = 'does not open a text that is no seal';

describeDeviceSeals('the correct seals', correct);

describeMutants((make: Make, suite) => describeDeviceSeals('a mutant', make, suite), {
  'has a key of each instance': { make: () => hmacDeviceSeals(testKeyPair().privateKey), caughtBy: ANY },
  'loses the value': { make: instead((content) => ({ ...content, value: '' })), caughtBy: ANY },
  'keeps whole minutes only': {
    make: instead((content) => ({ ...content, expiresAt: content.expiresAt - (content.expiresAt % 60_000) })),
    caughtBy: ANY,
  },
  'pads its texts': {
    make: opening((seals) => ({
      seal: (content) => `${seals.seal(content)}==`,
      open: (text, ...rest) => (text.endsWith('==') ? seals.open(text.slice(0, -2), ...rest) : null),
    })),
    caughtBy: 'makes a text of at most 300 letters, digits, dots, underscores and hyphens',
  },
  'does not seal the purpose': {
    make: opening((seals) => ({
      seal: (content) => seals.seal({ ...content, purpose: 'cookie' }),
      open: (text, purpose, now) => {
        const sealed = seals.open(text, 'cookie', now);
        return sealed && { ...sealed, purpose };
      },
    })),
    caughtBy: 'opens a seal for its purpose alone',
  },
  'opens an expired seal': {
    make: opening((seals) => ({ open: (text, purpose) => seals.open(text, purpose, 0) })),
    caughtBy: 'opens a seal until it expires',
  },
  'opens a seal in the millisecond of its expiry': {
    make: opening((seals) => ({ open: (text, purpose, now) => seals.open(text, purpose, now - 1) })),
    caughtBy: 'opens a seal until it expires',
  },
  'compares the beginning of the signature': {
    make: opening((seals) => {
      const made: string[] = [];
      return {
        seal: (content) => {
          made.push(seals.seal(content));
          return made.at(-1) ?? '';
        },
        open: (text, ...rest) =>
          seals.open(made.find((each) => each.slice(0, -9) === text.slice(0, -9)) ?? text, ...rest),
      };
    }),
    caughtBy: CHANGED,
  },
  'does not seal the id of the session': {
    make: opening((seals) => ({
      open: (text, ...rest) => {
        const parts = text.split('.');
        const [, id = ''] = parts;
        const sealed =
          seals.open(parts.with(1, '01J00000000000000000000002').join('.'), ...rest) ?? seals.open(text, ...rest);
        return sealed && { ...sealed, sessionId: id };
      },
    })),
    caughtBy: CHANGED,
  },
  'has the same key everywhere': { make: () => correct(), caughtBy: 'does not open what another key has sealed' },
  'ignores spaces': {
    make: opening((seals) => ({ open: (text, ...rest) => seals.open(text.trim(), ...rest) })),
    caughtBy: NONE,
  },
  'ignores what follows': {
    make: opening((seals) => ({ open: (text, ...rest) => seals.open(text.replace(/\.$/, ''), ...rest) })),
    caughtBy: NONE,
  },
});
