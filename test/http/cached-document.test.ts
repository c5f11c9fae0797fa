import { expect, it } from 'vitest';
import { cachedDocument } from '../../src/adapters/http/documents.ts';

it('a cached document is made once, however many ask at the same time', async () => {
  let made = 0;
  const kept = cachedDocument(async () => {
    made += 1;
    return 'text';
  });
  const [first, second] = await Promise.all([kept(), kept()]);
  expect(await kept()).toBe(first);
  expect(second).toBe(first);
  expect([made, first.text]).toEqual([1, 'text']);
  expect(first.etag).toMatch(/^[\w-]{43}$/);
});

it('a kept document that could not be made is tried again', async () => {
  const outcomes = [Promise.reject(new Error('no file')), Promise.resolve('text')];
  const kept = cachedDocument(() => outcomes.shift() ?? Promise.reject(new Error('asked too often')));
  await expect(kept()).rejects.toThrow('no file');
  expect((await kept()).text).toBe('text');
  expect((await kept()).text).toBe('text');
});
