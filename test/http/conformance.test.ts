import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALLOWED_ORIGIN, conformanceOf } from '../support/conformance.ts';
import { startService, type TestService } from '../support/http/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ ALLOWED_ORIGINS_DEV: ALLOWED_ORIGIN });
});
afterAll(() => service.close());

describe('the service', () => {
  it('passes every check of the conformance suite, the extended ones included', async () => {
    const results = await conformanceOf(service.url, '--origin', ALLOWED_ORIGIN, '--extended');
    expect(results.length).toBeGreaterThan(70);
    expect(results.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    const skipped = results.filter(({ outcome }) => outcome === 'skipped').map(({ id }) => id);
    expect(skipped).toEqual([]);
  });
});
