import { describe, expect, it } from 'vitest';
import { aesGcmFactorSecrets } from '../../src/adapters/crypto/factor-secrets.ts';
import { describeFactorSecrets } from '../contracts/factor-secrets.contract.ts';
import { anId } from '../support/builders.ts';
import { factorKeys } from '../support/factor-keys.ts';

describeFactorSecrets('aesGcmFactorSecrets', (keys) => aesGcmFactorSecrets(factorKeys(keys)));

const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const IV_SIZE = 12;

/** WebCrypto with AES-GCM and a tag of 128 bits. */
const decryptedElsewhere = async (bytes: Uint8Array<ArrayBuffer>, userId: string): Promise<string> => {
  const [raw] = factorKeys(['a']);
  const key = await crypto.subtle.importKey('raw', new Uint8Array(raw), 'AES-GCM', false, ['decrypt']);
  const parameters = { name: 'AES-GCM', iv: bytes.subarray(0, IV_SIZE), additionalData: Buffer.from(userId) };
  return Buffer.from(await crypto.subtle.decrypt(parameters, key, bytes.subarray(IV_SIZE))).toString();
};

describe('a secret that aesGcmFactorSecrets has encrypted', () => {
  const userId = anId();
  const encrypted = () => {
    const [, content = ''] = aesGcmFactorSecrets(factorKeys(['a']))
      .encrypt(SECRET, userId)
      .split('.');
    return new Uint8Array(Buffer.from(content, 'base64url'));
  };

  it('is decrypted by another implementation of AES-256-GCM', async () => {
    expect(await decryptedElsewhere(encrypted(), userId)).toBe(SECRET);
  });

  it('is authenticated there, too, with the id of its user', async () => {
    await expect(decryptedElsewhere(encrypted(), anId())).rejects.toThrow();
    const bytes = encrypted();
    for (const at of bytes.keys()) {
      const changed = bytes.map((byte, place) => (place === at ? byte ^ 1 : byte));
      await expect(decryptedElsewhere(changed, userId)).rejects.toThrow();
    }
  });
});
