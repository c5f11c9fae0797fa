import { expect, it } from 'vitest';
import { DEVICE_LIFETIME, isTrusted, newRememberedDevice, UNKNOWN_DEVICE } from '../../src/domain/device.ts';

const NOW = 1_000_000;
const device = newRememberedDevice({ id: 'D', userId: 'U' }, UNKNOWN_DEVICE, NOW);
const user = { passwordChangedAt: NOW, secondFactorAt: NOW };

it.each([
  ['is remembered from the moment on', device, user, NOW, true],
  ['is remembered for 30 days', device, user, NOW + DEVICE_LIFETIME - 1, true],
  ['is not remembered after them', device, user, NOW + DEVICE_LIFETIME, false],
  ['is of the password of that time', device, { ...user, passwordChangedAt: NOW + 1 }, NOW + 1, false],
  ['is of the second factor of that time', device, { ...user, secondFactorAt: NOW + 1 }, NOW + 1, false],
  ['is of no use without a second factor', device, { ...user, secondFactorAt: null }, NOW, false],
])('a remembered device %s', (_what, remembered, owner, now, expected) => {
  expect(isTrusted(remembered, owner, now)).toBe(expected);
});
