import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { Pieces } from '../../../src/infrastructure/http-server/pieces.ts';
import { head } from '../../support/http/raw-http.ts';

const KIB_64 = 65_536;

/** What is told of a connection to `Pieces` while a server reads it: here, that each head has a body of this length. */
const cutting = (bodyLength = 0) => {
  const source = new Readable({ read: () => undefined });
  const pieces = new Pieces(source);
  return {
    headIsRead: () => pieces.headIsRead(bodyLength),
    isHeadRequest: () => pieces.isHeadRequest(),
    /** The pieces of one packet. */
    cut(packet: string, { inBody = false } = {}): string[] {
      source.push(Buffer.from(packet));
      const all: string[] = [];
      for (let piece = pieces.next(inBody); piece !== null; piece = pieces.next(inBody)) all.push(piece.toString());
      return all;
    },
  };
};

describe('the pieces of what a socket brings', () => {
  const [first, second] = [head('GET /first'), head('GET /second')];

  it('end where a head ends, wherever the packets do', () => {
    for (let at = 1; at < first.length; at += 1) {
      const { cut } = cutting();
      const pieces = [...cut(first.slice(0, at)), ...cut(first.slice(at) + second)];
      expect(pieces).toEqual([first.slice(0, at), first.slice(at), second]);
    }
  });

  it('end where a body ends, whatever is in it', () => {
    const body = '\r\n\r\n'.repeat(2_048);
    const { cut, headIsRead } = cutting(body.length);
    cut(first);
    headIsRead();
    expect(cut(`${body}${second}`, { inBody: true })).toEqual([body.slice(0, 4_096), body.slice(4_096), second]);
  });

  it.each([
    ['of a body', true],
    ['before a request', false],
  ])('are no more, of the empty lines %s', (_what, inBody) => {
    const { cut, headIsRead } = cutting(inBody ? KIB_64 : 0);
    headIsRead();
    expect(cut('\r\n'.repeat(KIB_64 / 2), { inBody })).toHaveLength(KIB_64 / 4_096);
  });

  it('tell a HEAD behind empty lines', () => {
    const { cut, isHeadRequest } = cutting();
    cut('\r\n\r\n\r');
    cut('\n\r\nHE');
    expect(isHeadRequest()).toBe(false);
    cut('AD /');
    expect(isHeadRequest()).toBe(true);
  });
});
