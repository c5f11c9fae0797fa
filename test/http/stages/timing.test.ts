// Proves SPEC 12.23
import { expect, it } from 'vitest';
import { monotonicTime } from '../../../src/adapters/clock/system.ts';
import { head, openSocket, parseAnswer, readToEnd } from '../../support/http/raw-http.ts';
import { stageApp, upload } from '../../support/http/stage-app.ts';

it('the start time is taken after the body has arrived, so that a slow client does not count as a slow request', async () => {
  const times: number[] = [];
  const { url } = await stageApp([
    upload((_input, ctx) => {
      times.push(ctx.state.startedAt ?? Number.NaN);
      return null;
    }),
  ]);
  const socket = openSocket(url);
  const answered = readToEnd(socket);
  const headers = { 'Content-Type': 'application/json', Expect: '100-continue', 'Content-Length': '2' };
  socket.write(head('POST /upload', { ...headers, Connection: 'close' }));
  // The interim response 100 shows that the server has read the head.
  await new Promise((resolve) => socket.once('data', resolve));
  times.push(monotonicTime());
  socket.write('{}');
  expect(parseAnswer((await answered).replace('HTTP/1.1 100 Continue\r\n\r\n', '')).status).toBe(200);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(times).toHaveLength(2);
});
