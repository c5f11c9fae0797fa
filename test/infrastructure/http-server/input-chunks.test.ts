import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { InputChunks } from '../../../src/infrastructure/http-server/input-chunks.ts';
import { head } from '../../support/http/raw-http.ts';

const KIB_64 = 65_536;

/** Reads chunks as a server does; each request has a body of this length. */
const reading = (bodyLength = 0) => {
  const source = new Readable({ read: () => undefined });
  const chunks = new InputChunks(source);
  return {
    endHead: () => chunks.endHead(bodyLength),
    isHeadRequest: () => chunks.isHeadRequest(),
    /** The chunks of one packet. */
    receive(packet: string, { inBody = false } = {}): string[] {
      source.push(Buffer.from(packet));
      const all: string[] = [];
      for (let chunk = chunks.next(inBody); chunk !== null; chunk = chunks.next(inBody)) all.push(chunk.toString());
      return all;
    },
  };
};

describe('the chunks of the input of a socket', () => {
  const [first, second] = [head('GET /first'), head('GET /second')];

  it('end where a head ends, wherever the packets end', () => {
    for (let at = 1; at < first.length; at += 1) {
      const { receive } = reading();
      const chunks = [...receive(first.slice(0, at)), ...receive(first.slice(at) + second)];
      expect(chunks).toEqual([first.slice(0, at), first.slice(at), second]);
    }
  });

  it('end where a body ends, whatever it contains', () => {
    const body = '\r\n\r\n'.repeat(2_048);
    const { receive, endHead } = reading(body.length);
    receive(first);
    endHead();
    expect(receive(`${body}${second}`, { inBody: true })).toEqual([body.slice(0, 4_096), body.slice(4_096), second]);
  });

  it.each([
    ['in a body', true],
    ['before a request', false],
  ])('are not split at empty lines %s', (_where, inBody) => {
    const { receive, endHead } = reading(inBody ? KIB_64 : 0);
    endHead();
    expect(receive('\r\n'.repeat(KIB_64 / 2), { inBody })).toHaveLength(KIB_64 / 4_096);
  });

  it('recognize a HEAD request after empty lines', () => {
    const { receive, isHeadRequest } = reading();
    receive('\r\n\r\n\r');
    receive('\n\r\nHE');
    expect(isHeadRequest()).toBe(false);
    receive('AD /');
    expect(isHeadRequest()).toBe(true);
  });
});
