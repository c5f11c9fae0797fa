// Proves SPEC 12.13, 12.14, 12.15, 25.3; ASVS 16.2.4
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { currentRequest } from '../../../src/adapters/http/stages/arrival.ts';
import { fixedClock } from '../../support/fixed-clock.ts';
import { probe, stageApp, stageDeps } from '../../support/http/stage-app.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

describe('the request scope', () => {
  it('contains the ids, the time and the version of the request', async () => {
    const clock = fixedClock(Date.UTC(2026, 0, 1));
    const { http } = await stageApp([probe(() => currentRequest())], { clock });
    const { body } = await http
      .get('/probe')
      .set({ 'svc-request-id': 'mine', traceparent: `00-${TRACE}-00f067aa0ba902b7-00` })
      .expect(200);
    expect(body.data).toEqual({
      requestId: 'mine',
      trace: expect.objectContaining({ traceId: TRACE }),
      time: Date.UTC(2026, 0, 1),
      version: '1.2.3',
    });
  });

  it('is available after await, in timers and in callbacks', async () => {
    const ids: (string | undefined)[] = [];
    const handler = async () => {
      await setImmediate();
      ids.push(currentRequest()?.requestId);
      await new Promise<void>((resolve) => {
        setTimeout(() => {
          ids.push(currentRequest()?.requestId);
          queueMicrotask(resolve);
        });
      });
      ids.push(currentRequest()?.requestId);
    };
    const { http } = await stageApp([probe(handler)]);
    await http.get('/probe').set('svc-request-id', 'mine').expect(200);
    expect(ids).toEqual(['mine', 'mine', 'mine']);
  });

  it('belongs to one request, however many are in progress', async () => {
    const AT_ONCE = 50;
    const allThere = Promise.withResolvers<void>();
    let there = 0;
    const handler = async () => {
      const before = currentRequest()?.requestId;
      there += 1;
      if (there === AT_ONCE) allThere.resolve();
      await allThere.promise;
      await setImmediate();
      return [before, currentRequest()?.requestId];
    };
    const { url } = await stageApp([probe(handler)]);
    const ids = Array.from({ length: AT_ONCE }, (_, index) => `request-${index}`);
    const seen = await Promise.all(
      ids.map(async (id) => {
        const response = await fetch(`${url}/probe`, { headers: { 'svc-request-id': id } });
        return Reflect.get(Object(await response.json()), 'data');
      }),
    );
    expect(seen).toEqual(ids.map((id) => [id, id]));
  });

  it('adds the request id to the log lines of the handler', async () => {
    const deps = stageDeps();
    const { http } = await stageApp([probe(() => deps.logger.info('working'))], { logger: deps.logger });
    await http.get('/probe').set('svc-request-id', 'mine').expect(200);
    expect(deps.logs.find(({ msg }) => msg === 'working')).toMatchObject({ requestId: 'mine' });
  });
});
