import { describe, expect, it } from 'vitest';
import { framesOf } from '../../src/adapters/redaction/stack-frames.ts';
import { answered } from '../../src/adapters/session-repository/redis-errors.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';

describe('an error of Redis', () => {
  it('becomes DB_QUERY_FAILED with the stack frames of both, and without its message', async () => {
    const foreign = Object.assign(new Error('ERR unknown command, with args beginning with: hunter22'), {
      name: 'ReplyError',
      command: { name: 'hset', args: ['hunter22'] },
      stack: 'ReplyError: hunter22\n    at parseError (/app/node_modules/redis-parser/lib/parser.js:1:2)',
    });
    const error = await answered(Promise.reject(foreign)).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code: 'DB_QUERY_FAILED', reason: 'ReplyError ERR', cause: undefined });
    expect(framesOf(error)).toMatch(/redis-errors\.test\.ts[\s\S]*parseError/);
    expect(error instanceof Error ? error.stack : expect.unreachable()).not.toContain('hunter22');
  });
});
