import { expect, it } from 'vitest';
import { bindingOf, deviceStatus, NO_KEYS, NO_PROOF_REQUIRED } from '../../src/domain/device.ts';

const OF_PAGE = { ...NO_KEYS, deviceKey: 'page' };
const OF_BROWSER = { ...OF_PAGE, browserKey: 'browser' };

it('a session is bound by what holds its key, by the browser before a page', () => {
  expect([NO_KEYS, OF_PAGE, OF_BROWSER].map(bindingOf)).toEqual(['none', 'device', 'browser']);
});

it.each([
  ['of a session without a key', NO_KEYS, {}, 'unbound'],
  ['where nothing is required', OF_BROWSER, { required: false }, 'unbound'],
  ['with the key of the browser', OF_BROWSER, { browserKey: 'browser' }, 'proven'],
  ['with the key of another browser', OF_BROWSER, { browserKey: 'another' }, 'unproven'],
  ['with the key of a browser, and the session has none', OF_PAGE, { browserKey: 'another' }, 'unproven'],
  ['with a proof of the page', OF_BROWSER, { proof: { key: 'page', number: 1 } }, 'proven'],
  ['with a proof that was used', { ...OF_PAGE, proofs: [1] }, { proof: { key: 'page', number: 1 } }, 'unproven'],
  ['without anything', OF_PAGE, {}, 'unproven'],
] as const)('the status of a request %s', (_, keys, given, status) => {
  expect(deviceStatus(keys, { ...NO_PROOF_REQUIRED, required: true, ...given })).toBe(status);
});
