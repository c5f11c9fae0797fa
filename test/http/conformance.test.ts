// Proves SPEC 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.13, 2.2, 2.3, 2.5, 2.8, 2.9, 3.1, 3.2, 3.3, 3.4, 3.5, 3.6, 3.7, 4.1, 4.2, 4.3, 4.4, 4.5, 4.6, 8.1, 8.3, 8.9, 9.1, 9.2, 9.3, 9.6, 9.7, 9.8, 9.10, 9.11, 9.12, 9.14, 9.15, 9.19, 9.20, 9.21
// Proves SPEC 10.2, 10.4, 11.4, 11.8, 11.9, 11.10, 11.11, 13.1, 13.3, 13.9, 14.1, 20.1, 20.7, 20.8, 20.10, 20.12, 20.13; script-1, bcp-9
import { describe, expect, it } from 'vitest';
import { ALLOWED_ORIGIN, conformanceOf } from '../support/conformance.ts';
import { startService } from '../support/http/service.ts';

const service = await startService({ ALLOWED_ORIGINS_DEV: ALLOWED_ORIGIN });

describe('the service', () => {
  it('has the four routes of the specification for everybody', () => {
    const four = service.routes.filter(({ name }) => ['register', 'login', 'refresh', 'clear-cookie'].includes(name));
    expect(four.map(({ auth }) => auth)).toEqual(Array(4).fill('public'));
  });

  it('passes every check of the conformance suite, the extended ones included', async () => {
    const results = await conformanceOf(service.url, '--origin', ALLOWED_ORIGIN, '--extended');
    expect(results.length).toBeGreaterThan(70);
    expect(results.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    const skipped = results.filter(({ outcome }) => outcome === 'skipped').map(({ id }) => id);
    expect(skipped).toEqual([]);
  });
});
