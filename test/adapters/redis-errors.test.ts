import { describe, expect, it } from 'vitest';
import { framesOf } from '../../src/adapters/redaction/stack-frames.ts';
import { answered } from '../../src/adapters/session-repository/redis-errors.ts';
import { NotExecutedError } from '../../src/adapters/session-repository/rotation-recovery/not-executed.ts';
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

  const thrownFor = (name: string, message: string): Promise<unknown> =>
    answered(Promise.reject(Object.assign(new Error(message), { name }))).catch((caught: unknown) => caught);

  it.each([
    ['ReplyError', 'NOREPLICAS Not enough good replicas to write. script: 5f2e, on @user_script:1.'],
    ['ReplyError', 'CLUSTERDOWN Hash slot not served'],
    ['ReplyError', 'MOVED 866 127.0.0.1:7001'],
    ['ReplyError', 'ASK 866 127.0.0.1:7001'],
    ['ReplyError', 'TRYAGAIN Multiple keys request during rehashing of slot'],
    ['ReplyError', "READONLY You can't write against a read only replica."],
    ['ReplyError', 'LOADING Redis is loading the dataset in memory'],
    ['ReplyError', "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."],
    ['ReplyError', "OOM command not allowed when used memory > 'maxmemory'."],
    ['ReplyError', 'MISCONF Errors writing to the AOF file: No space left on device'],
    ['ReplyError', 'BUSY Redis is busy running a script.'],
    ['ReplyError', 'NOAUTH Authentication required.'],
    ['Error', 'Too many Cluster redirections. Last error: ReplyError: MOVED 866 127.0.0.1:7001'],
    ['Error', 'Too many Cluster redirections. Last error: ReplyError: CLUSTERDOWN The cluster is down'],
    ['Error', "Stream isn't writeable and enableOfflineQueue options is false"],
    ['Error', "Cluster isn't ready and enableOfflineQueue options is false"],
  ])('%s %j proves that the command was not executed', async (name, message) => {
    const error = await thrownFor(name, message);
    expect(error).toBeInstanceOf(NotExecutedError);
    expect(error).toMatchObject({ code: 'DB_QUERY_FAILED', reason: expect.stringContaining(name) });
  });

  it.each([
    ['ReplyError', "ERR Error running script (call to f_5f2e): @user_script:1: -READONLY You can't write"],
    ['ReplyError', 'NOPERM this user has no permissions to run the command'],
    ['ReplyError', 'WRONGTYPE Operation against a key holding the wrong kind of value'],
    ['Error', 'Too many Cluster redirections. Last error: Error: Connection is closed.'],
    ['Error', 'Connection is closed.'],
    ['Error', 'Command timed out'],
    ['Error', 'LOADING is no reply of Redis here'],
    ['MaxRetriesPerRequestError', 'Reached the max retries per request limit (which is 0).'],
  ])('%s %j proves nothing', async (name, message) => {
    const error = await thrownFor(name, message);
    expect(error).toBeInstanceOf(AppError);
    expect(error).not.toBeInstanceOf(NotExecutedError);
  });
});
