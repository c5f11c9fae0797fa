// Proves SPEC 2.6, 12.26, 12.27, 20.20, 21.6; ASVS 8.2.3
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { probe, stageApp } from '../../support/http/stage-app.ts';

const Data = v.object({
  name: v.string(),
  address: v.optional(v.object({ city: v.string() })),
  tags: v.optional(v.array(v.object({ label: v.string() }))),
});

/** A route with a payload that may not match its schema. */
const returning = (payload: unknown, data: v.GenericSchema = Data) =>
  stageApp([probe(() => payload, { response: { data } })]);

describe('a payload', () => {
  it('is sent without members that its schema does not contain, at any depth', async () => {
    const { http } = await returning({
      name: 'ada',
      passwordHash: 'secret',
      address: { city: 'Turin', code: 'secret' },
      tags: [{ label: 'a', hidden: 'secret' }],
    });
    const { body, text } = await http.get('/probe').expect(200);
    expect(body.data).toEqual({ name: 'ada', address: { city: 'Turin' }, tags: [{ label: 'a' }] });
    expect(text).not.toContain('secret');
  });

  it('is sent as its schema transforms it', async () => {
    const { http } = await returning(
      0,
      v.pipe(
        v.number(),
        v.transform((time) => new Date(time).toISOString()),
        v.metadata({ jsonSchema: { type: 'string', format: 'date-time' } }),
      ),
    );
    expect((await http.get('/probe').expect(200)).body.data).toBe('1970-01-01T00:00:00.000Z');
  });

  it.each<[string, unknown, string]>([
    ['a member of another type', { name: { secret: 'hunter22' } }, 'name: string'],
    ['a member that is missing', { nickname: 'hunter22' }, 'name: "name"'],
    [
      'a nested member of another type',
      { name: 'ada', tags: [{ label: 'a' }, { label: ['hunter22'] }] },
      'tags.1.label: string',
    ],
    ['undefined', undefined, 'data: Object'],
    ['null', null, 'data: Object'],
    ['a string', 'hunter22', 'data: Object'],
  ])('that does not match its schema is SYS_SERIALIZATION_ERROR: %s', async (_what, payload, place) => {
    const { http, logs } = await returning(payload);
    const { body, text } = await http.get('/probe').expect(500);
    expect(body).toMatchObject({ success: false, code: 'SYS_SERIALIZATION_ERROR', details: null });
    expect(body).not.toHaveProperty('data');
    const [line, ...more] = logs.filter(({ code }) => code === 'SYS_SERIALIZATION_ERROR');
    expect(more).toEqual([]);
    expect(line).toMatchObject({ level: 'error', reason: expect.stringContaining(place) });
    expect(text + JSON.stringify(logs)).not.toMatch(/hunter22|secret/);
  });

  it('that does not match its schema is answered 500, whatever status the route declares', async () => {
    const created = probe(() => null, { response: { status: 201, data: v.unknown() } });
    const broken = { ...created, response: { status: 201, data: v.string() } };
    await (await stageApp([broken])).http.get('/probe').expect(500);
  });
});
