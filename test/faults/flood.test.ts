// Proves flood-2
import { expect, it, onTestFinished, vi } from 'vitest';
import { runInMemory } from '../support/processes/process.ts';
import { type Answer, ask, postJson, refreshAllAt, signUpAt } from '../support/processes/sessions-under-load.ts';

const FLOOD = 200;

const service = await runInMemory({
  // The queue accepts what it expects to hash within 5 s, a third of this: at first about 80 hashes of 0.2 s.
  REQUEST_TIMEOUT_MS: '15000',
  BCRYPT_COST: '12',
  RATE_LIMITS: 'off',
});

it('a flood of log-ins is served as far as hashing goes, turned away beyond it, and leaves refresh and guarded requests alone', async () => {
  const holders = [await signUpAt(service.url), await signUpAt(service.url)];
  const answers: Answer[] = [];
  const logIn = async (_none: unknown, index: number) => {
    const body = { account: `nobody.${index}`, password: 'correct horse' };
    answers.push(await postJson(`${service.url}/auth/login`, body));
  };
  const flood = Promise.allSettled(Array.from({ length: FLOOD }, logIn));
  onTestFinished(async () => {
    // Dozens of log-ins are still waiting.
    await flood;
  });
  const compared = () => answers.filter(({ status }) => status === 401);
  const turnedAway = () => answers.filter(({ status }) => status === 503);

  await vi.waitFor(() => expect(turnedAway().length).toBeGreaterThan(0), { timeout: 140_000 });
  const stopRefreshing = refreshAllAt(service.url, holders);
  const guarded = await ask(`${service.url}/users/me`);
  await vi.waitFor(() => expect(compared().length).toBeGreaterThan(3), { timeout: 140_000 });
  await stopRefreshing();

  expect(guarded).toMatchObject({ status: 401, code: 'AUTH_TOKEN_MISSING' });
  expect(holders.flatMap(({ failures }) => failures)).toEqual([]);
  expect(compared().length + turnedAway().length).toBe(answers.length);
  for (const answer of turnedAway()) {
    expect(Number(answer.retryAfter)).toBeGreaterThanOrEqual(1);
    expect(answer.code).toBe('SYS_HTTP_UNEXPECTED_ERROR');
  }
});
