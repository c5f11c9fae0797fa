import { createPrivateKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hmacDeviceSeals } from '../../src/adapters/crypto/device-seals.ts';
import { describeDeviceSeals } from '../contracts/device-seals.contract.ts';
import { testKeyPair } from '../support/keys.ts';

const [ours, theirs] = [testKeyPair(), testKeyPair()].map(({ privateKey }) => privateKey) as [never, never];

describeDeviceSeals('hmacDeviceSeals', (key) => hmacDeviceSeals(key === undefined ? ours : theirs));

describe('hmacDeviceSeals', () => {
  it.each(['sec1', 'pkcs8'] as const)('has one key for each form of the private key: %s', (type) => {
    const { privateKey } = testKeyPair();
    const read = createPrivateKey(privateKey.export({ type, format: 'pem' }));
    const content = { purpose: 'cookie', userId: 'u', sessionId: 's', value: 'v', expiresAt: 2 } as const;
    expect(hmacDeviceSeals(read).open(hmacDeviceSeals(privateKey).seal(content), 'cookie', 1)).toEqual(content);
  });
});
