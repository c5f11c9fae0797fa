import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, runService } from '../support/processes/process.ts';
import { ask, refreshAllAt, signUpAt } from '../support/processes/sessions-under-load.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

describe('a flood of log-ins', () => {
  const directory = temporaryDirectory();
  let service: RunningService;
  beforeAll(async () => {
    service = await runService({
      DATABASE_URL: 'memory:',
      DATA_DIR: directory.path,
      // A password may wait a third of it: half a second.
      REQUEST_TIMEOUT_MS: '1500',
      RATE_LIMIT_GLOBAL: 'off',
      RATE_LIMIT_STRICT: 'off',
    });
  });
  afterAll(async () => {
    await service.stop();
    directory.remove();
  });

  // Proves: flood-2
  it('is served as far as hashing goes, turned away beyond it, and leaves refresh and guarded requests alone', async () => {
    const holders = [await signUpAt(service.url), await signUpAt(service.url)];
    const login = () =>
      fetch(`${service.url}/auth/login`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ account: 'nobody', password: 'correct horse' }),
      });
    const stopRefreshing = refreshAllAt(service.url, holders);
    const flood = Promise.all(Array.from({ length: 200 }, login));
    const guarded = await ask(`${service.url}/users/me`);
    const answers = await flood;
    await stopRefreshing();

    expect(guarded).toMatchObject({ status: 401, code: 'AUTH_TOKEN_MISSING' });
    expect(holders.flatMap(({ failures }) => failures)).toEqual([]);
    const compared = answers.filter(({ status }) => status === 401);
    const turnedAway = answers.filter(({ status }) => status === 503);
    expect(compared.length).toBeGreaterThan(0);
    expect(turnedAway.length).toBe(answers.length - compared.length);
    expect(turnedAway.length).toBeGreaterThan(0);
    for (const answer of turnedAway) {
      expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThanOrEqual(1);
      expect(await answer.json()).toMatchObject({ code: 'SYS_HTTP_UNEXPECTED_ERROR' });
    }
  });
});
