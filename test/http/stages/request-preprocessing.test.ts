// Proves SPEC 1.11, 1.12, 6.7, 6.8, 12.7, 12.8, 12.9, 12.10, 12.11, 12.12, 25.1, 25.2, 25.4; ASVS 16.4.1; network-6
import { decodeTime } from 'ulid';
import { describe, expect, it } from 'vitest';
import { fixedClock } from '../../support/fixed-clock.ts';
import { exchangeRaw, head } from '../../support/http/raw-http.ts';
import { startService } from '../../support/http/service.ts';
import { probe, stageApp, throwing, ULID } from '../../support/http/stage-app.ts';

const echo = probe((_input, { request: { id, version } }) => ({ id, version }));

/** The response to a request with this `svc-request-id`, sent in Latin-1. */
const askWith = async (id: string) => {
  const { url } = await stageApp([echo]);
  const request = head('GET /probe', { 'svc-request-id': id, Connection: 'close' });
  const { headers, body } = await exchangeRaw(url, Buffer.from(request, 'latin1'));
  return { header: headers['svc-request-id'], body: JSON.parse(body) };
};

describe('the request id', () => {
  it.each([
    ['one character', 'x'],
    ['a ULID', '01ARZ3NDEKTSV4RRFFQ69G5FAV'],
    ['128 characters', 'x'.repeat(128)],
    ['every printable character of ASCII', String.fromCharCode(...Array.from({ length: 94 }, (_, i) => 0x21 + i))],
    ['a space', 'two words'],
    ['markup', '<script>"\'&'],
  ])('is reused: %s', async (_what, id) => {
    const { header, body } = await askWith(id);
    expect(header).toBe(id);
    expect(body.data.id).toBe(id);
    expect(body.context.requestId).toBe(id);
  });

  it.each([
    ['empty', ''],
    ['longer than 128 characters', 'x'.repeat(129)],
    ['not ASCII', 'id-\u00e4'],
    ['a text with a tab', 'two\twords'],
  ])('is a new ULID when the given one is %s', async (_what, id) => {
    const { header, body } = await askWith(id);
    expect(header).toMatch(ULID);
    expect(body.data.id).toBe(header);
    expect(body.context.requestId).toBe(header);
  });

  it('is a new ULID each time when none is given', async () => {
    const { http } = await stageApp([echo]);
    const ids = [await http.get('/probe'), await http.get('/probe')].map(({ headers }) => headers['svc-request-id']);
    expect(ids).toEqual([expect.stringMatching(ULID), expect.stringMatching(ULID)]);
    expect(new Set(ids).size).toBe(2);
  });

  it('contains the time of the request when it is generated', async () => {
    const clock = fixedClock(Date.UTC(2026, 0, 1));
    const service = await startService({}, { clock });
    const response = await service.http.get('/health/live');
    await service.close();
    expect(decodeTime(response.headers['svc-request-id'] ?? '')).toBe(clock.now());
  });
});

it('the version is in the request and in the context of success and error', async () => {
  const success = await (await stageApp([echo])).http.get('/probe');
  expect([success.body.data.version, success.body.context.version]).toEqual(['1.2.3', '1.2.3']);
  const error = await (await stageApp([throwing(new Error('a bug'))])).http.get('/probe').expect(500);
  expect(error.body.context.version).toBe('1.2.3');
});
