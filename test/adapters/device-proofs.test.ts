import { describe, expect, it } from 'vitest';
import { nodeCryptoDeviceProofs } from '../../src/adapters/crypto/device-proofs.ts';
import { describeDeviceProofs } from '../contracts/device-proofs.contract.ts';
import { joseDeviceKey } from '../support/jose-proofs.ts';

const NOW = Date.UTC(2026, 10, 24);
const URL = 'https://auth.example.org/auth/refresh-token';

describeDeviceProofs('nodeCryptoDeviceProofs', nodeCryptoDeviceProofs);

describe('nodeCryptoDeviceProofs', () => {
  const verify = (text: string, url = URL, now = NOW) =>
    nodeCryptoDeviceProofs().verify(text, { method: 'POST', urls: [url] }, now);

  it('accepts proofs by jose, with the thumbprints that jose computes', async () => {
    for (let key = 0; key < 20; key += 1) {
      const { proof, thumbprint } = await joseDeviceKey();
      expect(await verify(await proof({ htu: URL, now: NOW }))).toMatchObject({ ok: true, proof: { key: thumbprint } });
    }
  });

  it('accepts the proof of RFC 9449', async () => {
    const text =
      'eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg';
    const key = '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I';
    const url = 'https://server.example.com/token';
    expect(await verify(text, url, 1_562_262_616_000)).toMatchObject({ ok: true, proof: { key } });
    expect(await verify(text, url, NOW)).toEqual({ ok: false, reason: 'untimely', key });
  });

  it('accepts a proof for an address of 1,000 characters, and none of more than 2,048', async () => {
    const { proof } = await joseDeviceKey();
    const ofLength = (length: number) => URL.padEnd(length, 'a');
    expect(await verify(await proof({ htu: ofLength(1_000), now: NOW }), ofLength(1_000))).toMatchObject({ ok: true });
    const long = await proof({ htu: ofLength(1_300), now: NOW });
    expect(long.length).toBeGreaterThan(2_048);
    expect(await verify(long, ofLength(1_300))).toEqual({ ok: false, reason: 'invalid' });
  });

  it('gives a thousand proofs of one second different numbers, but for a few', async () => {
    const { proof } = await joseDeviceKey();
    const numbers = new Set<number>();
    for (let count = 0; count < 1_000; count += 1) {
      const outcome = await verify(await proof({ htu: URL, now: NOW }));
      numbers.add(outcome.ok ? outcome.proof.number : expect.unreachable());
    }
    expect(numbers.size).toBeGreaterThan(990);
  });
});
