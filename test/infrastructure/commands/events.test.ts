import { ulid } from 'ulid';
import { describe, expect, it } from 'vitest';
import { memoryEventRepository } from '../../../src/adapters/event-repository/memory.ts';
import { events } from '../../../src/infrastructure/commands/users/inspect.ts';
import { anEvent, anId, NOW } from '../../support/builders.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A user with events, and how many pages of them were read. */
const setUp = async (times: readonly number[]) => {
  const user = { id: anId() };
  const stored = memoryEventRepository(() => true);
  await stored.add(times.map((at) => anEvent({ userId: user.id, id: ulid(at), at })));
  let pages = 0;
  const counting = {
    ...stored,
    list: (query: Parameters<typeof stored.list>[0]) => {
      pages += 1;
      return stored.list(query);
    },
  };
  const listed = (since: number | null, until: number | null) => events({ events: counting }, user, { since, until });
  return { user, stored, listed, pages: () => pages };
};

const series = (count: number, interval: number): number[] =>
  Array.from({ length: count }, (_, index) => NOW - index * interval);

type Parts = AsyncIterable<string> | readonly string[];

const textOf = async (parts: Parts): Promise<string> => {
  let text = '';
  for await (const part of parts) text += part;
  return text;
};

const timesIn = async (parts: Parts): Promise<number[]> => {
  const { events: found } = JSON.parse(await textOf(parts));
  return found.map(({ at }: { at: string }) => Date.parse(at));
};

describe('the events of a range', () => {
  it.each(['json', 'text'] as const)('are read page by page, as they are printed: %s', async (form) => {
    const { listed, pages } = await setUp(series(600, MINUTE));
    const answer = await listed(0, null);
    const read: number[] = [];
    const parts: string[] = [];
    for await (const part of answer[form]) {
      parts.push(part);
      read.push(pages());
    }
    expect(read).toStrictEqual(form === 'json' ? [0, 1, 2, 3, 3] : [1, 2, 3, 3]);
    expect(parts.join('').match(/disabled/g)).toHaveLength(600);
  });

  it('are the same as those that are stored, the latest first', async () => {
    const times = series(600, MINUTE);
    const { listed } = await setUp(times);
    expect(await timesIn((await listed(0, null)).json)).toStrictEqual(times);
    const [since, until] = [NOW - 500 * MINUTE, NOW - 300 * MINUTE];
    expect(await timesIn((await listed(since, until)).json)).toStrictEqual(times.slice(300, 501));
    expect(await timesIn((await listed(NOW + 1, null)).json)).toStrictEqual([]);
  });

  it('are read back to their start alone', async () => {
    const times = series(900, MINUTE);
    const { listed, pages } = await setUp(times);
    expect(await timesIn((await listed(NOW - 10 * MINUTE, null)).json)).toStrictEqual(times.slice(0, 11));
    expect(pages()).toBe(1);
  });

  it('have refused log-ins whose count began before it', async () => {
    const { user, stored, listed } = await setUp(series(600, 1_000));
    const at = NOW - 1_000;
    const begun = NOW - 30 * MINUTE;
    await stored.addRefusals([
      { id: ulid(begun), userId: user.id, at, count: 7, requestId: null, userAgent: null, address: null },
    ]);
    const found = await timesIn((await listed(at, null)).json);
    expect(found).toStrictEqual([NOW, at, at]);
  });

  it('have one table, whose columns become wider', async () => {
    const { user, stored, listed } = await setUp([NOW, NOW - HOUR]);
    const old = Array.from({ length: 500 }, (_, index) => NOW - 2 * HOUR - index);
    await stored.add(
      old.map((time) =>
        anEvent({ userId: user.id, id: ulid(time), at: time, kind: 'email-verification-requested', address: 'a' }),
      ),
    );
    const lines = (await textOf((await listed(0, null)).text)).split('\n');
    expect(lines.filter((line) => line.startsWith('TIME'))).toStrictEqual([lines[0]]);
    expect(lines).toHaveLength(504);
    expect(lines.at(-2)).toMatch(/^\S+ {2}email-verification-requested {2}– /);
  });
});

describe('the latest events', () => {
  it('are 50, and say whether there are older ones', async () => {
    const { listed } = await setUp(series(51, MINUTE));
    const answer = await listed(null, null);
    expect(await timesIn(answer.json)).toHaveLength(50);
    const text = await textOf(answer.text);
    expect(text.split('\n')).toHaveLength(53);
    expect(text).toMatch(/\nThese are the latest 50\. For older ones use --since or --until\.\n$/);
    const few = await setUp(series(50, MINUTE));
    expect(await textOf((await few.listed(null, null)).text)).not.toContain('older');
  });

  it('may be none', async () => {
    const { listed } = await setUp([]);
    expect(await textOf((await listed(null, null)).text)).toBe('No events.\n');
    expect(await timesIn((await listed(0, null)).json)).toStrictEqual([]);
  });
});
