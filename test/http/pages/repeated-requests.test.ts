// Proves theft-4
import type { Context } from 'koa';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { encryptionFromSecret, randomSecrets } from '../../../src/adapters/crypto/secrets.ts';
import { repeatedRequests } from '../../../src/adapters/http/forms/repeated-requests.ts';
import type { Route } from '../../../src/adapters/http/routing/define-route.ts';
import { type Counts, memoryCounts, sharedCounts } from '../../../src/adapters/limits/counts.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import { probe, stageApp, stageDeps } from '../../support/http/stage-app.ts';

const SECRET = 'a-refresh-token';

/** A service whose handler takes as long as a test wants, and a clock of what it remembers. */
const begin = async (wrap = (counts: Counts): Counts => counts) => {
  const clock = { at: 0 };
  const asked: (readonly string[])[] = [];
  const counts = wrap(memoryCounts({ now: () => clock.at }));
  const replace: Counts['replace'] = (name, former, text, ttl) => {
    asked.push([name, former, text]);
    return counts.replace(name, former, text, ttl);
  };
  const answerOnce = repeatedRequests({ replace }, encryptionFromSecret, randomSecrets.random);
  const runs: PromiseWithResolvers<string>[] = [];
  const handler: Route['handler'] = async (_input, ctx) => {
    const fields = ctx.get('Form') === '' ? null : ([['once', ctx.get('Form')]] as const);
    ctx.state.location = await answerOnce(ctx, fields, () => {
      const run = Promise.withResolvers<string>();
      runs.push(run);
      if (ctx.get('Form') !== 'fault') ctx.append('Set-Cookie', `refresh_token=${SECRET}${runs.length}`);
      return run.promise;
    });
    return null;
  };
  const { response, ...given } = probe(handler);
  const route: Route = { ...given, cookie: { writes: 'may-set' }, response: { ...response, redirects: true } };
  const { http } = await stageApp([route]);
  const send = async (form: string, cookie = '') => {
    const { status, headers, body } = await http.get('/probe').redirects(0).set({ Form: form, Cookie: cookie });
    return [headers.location ?? `${status} ${body.code}`, headers['set-cookie']];
  };
  const running = (count: number) => vi.waitFor(() => expect(runs).toHaveLength(count));
  /** Until whoever waits has looked again for an answer, or who is at work has said so. */
  const looked = async (former: 'sign' | 'look') => {
    const before = asked.length;
    const isSign = ([, was, text]: readonly string[]) => was !== '' && was === text;
    await expect.poll(() => asked.slice(before).some((each) => isSign(each) === (former === 'sign'))).toBe(true);
  };
  /** Sends a form whose answer is this one. */
  const done = async (form: string, answer: string | Error, cookie?: string) => {
    const [count, sent] = [runs.length + 1, send(form, cookie)];
    await running(count);
    if (typeof answer === 'string') runs.at(-1)?.resolve(answer);
    else runs.at(-1)?.reject(answer);
    return sent;
  };
  return { clock, asked, runs, send, running, looked, done };
};

describe('a request that is sent again', () => {
  it('gets the answer to the first one for ten seconds, if it is the same and can be told from another attempt', async () => {
    const { clock, send, done } = await begin();
    const first = await done('a', '/1');
    expect(first).toEqual(['/1', [`refresh_token=${SECRET}1`]]);
    clock.at = 9_999;
    expect(await send('a')).toEqual(first);
    expect(await done('b', '/2')).toEqual(['/2', [`refresh_token=${SECRET}2`]]);
    expect((await done('', '/3'))[0]).toBe('/3');
    expect((await done('', '/4'))[0]).toBe('/4');
    expect((await done('a', '/5', 'login_pending=another'))[0]).toBe('/5');
    expect(await send('a', 'refresh_token=a-newer-one')).toEqual(first);
    clock.at = 10_000;
    expect((await done('a', '/6'))[0]).toBe('/6');
  });

  it('gets an error with its cookies, and runs again after a fault of the service', async () => {
    const { send, done } = await begin();
    const failed = await done('a', new AppError('AUTH_SECOND_FACTOR_REQUIRED', { reason: 'a test' }));
    expect(failed).toEqual(['401 AUTH_SECOND_FACTOR_REQUIRED', [`refresh_token=${SECRET}1`]]);
    expect(await send('a')).toEqual(failed);
    expect((await done('fault', new AppError('DB_QUERY_FAILED')))[0]).toBe('500 DB_QUERY_FAILED');
    expect((await done('fault', new Error('a test')))[0]).toBe('500 SYS_UNEXPECTED_ERROR');
    expect((await done('fault', '/1'))[0]).toBe('/1');
  });

  it('leaves nothing that can be read without it, and nothing that is too long', async () => {
    const { asked, send, done } = await begin();
    await done('a-number-of-the-form', '/a-page', 'login_pending=a-cookie');
    const texts = JSON.stringify(asked);
    expect(texts.length).toBeGreaterThan(300);
    for (const secret of [SECRET, 'a-number-of-the-form', '/a-page', 'a-cookie']) expect(texts).not.toContain(secret);
    const long = (await done('b', `/${'x'.repeat(11_000)}`))[0];
    expect([long, (await send('b'))[0]]).toEqual([`/${'x'.repeat(11_000)}`, long]);
    expect((await done('c', `/${'x'.repeat(12_000)}`))[0]).toHaveLength(12_001);
    expect((await done('c', '/1'))[0]).toBe('/1');
  });

  it('waits for one that is at work, however long that takes', async () => {
    const { clock, runs, send, running, looked } = await begin();
    const first = send('a');
    await running(1);
    const second = send('a');
    for (let round = 0; round < 3; round += 1) {
      await looked('sign');
      clock.at += 4_000;
      await looked('look');
    }
    runs[0]?.resolve('/1');
    expect(await second).toEqual(await first);
    expect(runs).toHaveLength(1);
  });

  it('runs when the process of the first one has been silent for five seconds, and keeps its own answer', async () => {
    const { clock, runs, send, running } = await begin();
    const first = send('a');
    await running(1);
    const second = send('a');
    clock.at = 5_000;
    await running(2);
    runs[1]?.resolve('/2');
    expect((await second)[0]).toBe('/2');
    runs[0]?.resolve('/1');
    expect((await first)[0]).toBe('/1');
    expect(await send('a')).toEqual(await second);
  });

  it('waits for ten seconds, however slow the counts are', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const replace = vi.fn(async () => {
      vi.advanceTimersByTime(4_000);
      return { text: 'another request', now: 0 };
    });
    const answerOnce = repeatedRequests({ replace }, encryptionFromSecret, randomSecrets.random);
    const ctx = { url: '/probe', request: { cookies: new Map() } } as unknown as Context;
    expect(await answerOnce(ctx, [['once', 'a']], async () => '/1')).toBe('/1');
    expect(replace).toHaveBeenCalledTimes(3);
  });

  it('is known to its process while Redis is away', async () => {
    const replace = () => Promise.reject(new Error('a test'));
    const messages = { unavailable: 'away', available: 'back' };
    const { send, done } = await begin((own) =>
      sharedCounts({ shared: { ...own, replace }, own }, stageDeps().logger, messages),
    );
    expect(await done('a', '/1')).toEqual(await send('a'));
  });
});
