import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import { createLogger, type LoggerOptions } from '../../../src/infrastructure/logging/logger.ts';

type Level = LoggerOptions['level'];

/** What a developer's terminal shows, line by line and without the local time that each begins with. */
const terminal = (level: Level = 'debug') => {
  const written: string[] = [];
  const destination = { write: (text: string) => void written.push(text) };
  const logger = createLogger(
    { level, environment: 'development', version: '1.2.3', pretty: true, destination },
    () => ({}),
  );
  const lines = () => written.join('').trimEnd().split('\n');
  return { logger, text: () => written.join(''), lines: () => lines().map((line) => line.replace(TIME, '')) };
};

const TIME = /^\d{2}:\d{2}:\d{2}\.\d{3} /;
const ID = '01M80A5WKZ7DQ54CWRXER4MMY1';
const REQUEST = { requestId: ID, method: 'GET', route: 'probe', path: '/probe/:id', status: 200, duration: 12 };
const REFUSAL = { code: 'AUTH_TOKEN_MISSING', reason: 'no token' };

describe('the log in a terminal', () => {
  it('begins each line with the local time', () => {
    const { logger, text } = terminal();
    logger.info('a');
    const before = text();
    expect(before).toMatch(/^\d{2}:\d{2}:\d{2}\.\d{3} a\n$/);
  });

  it('repeats neither the process nor the version', () => {
    const { logger, text } = terminal();
    logger.info({ requests: 3 }, 'counted');
    expect(text()).toMatch(/ counted requests=3\n$/);
  });

  it('shows a request in one line', () => {
    const { logger, lines } = terminal();
    logger.debug({ ...REQUEST, target: '/probe/7' }, 'request answered');
    expect(lines()).toEqual([`GET /probe/7 200 12 ms ${ID}`]);
  });

  it('shows a refused request in one line, with code and reason', () => {
    const { logger, lines } = terminal();
    const { requestId } = REQUEST;
    logger.info({ requestId, route: 'probe', status: 401, ...REFUSAL }, 'The access token is missing.');
    logger.info({ ...REQUEST, status: 401, target: '/probe/7', ...REFUSAL }, 'request answered');
    expect(lines()).toEqual([`GET /probe/7 401 12 ms ${ID} AUTH_TOKEN_MISSING (no token)`]);
  });

  it.each<Level>(['warn', 'error'])('shows a refusal where the lines of requests are below the level: %s', (level) => {
    const { logger, lines } = terminal(level);
    logger.error({ requestId: ID, route: 'probe', status: 401, ...REFUSAL }, 'The access token is missing.');
    logger.info({ ...REQUEST, status: 401, ...REFUSAL }, 'request answered');
    expect(lines()).toEqual([
      `ERROR The access token is missing. route=probe status=401 code=AUTH_TOKEN_MISSING reason=no token ${ID}`,
    ]);
  });

  it('marks a slow request', () => {
    const { logger, lines } = terminal();
    logger.warn({ ...REQUEST, duration: 1_200 }, 'request answered');
    expect(lines()).toEqual([`GET /probe/:id 200 1200 ms (slow) ${ID}`]);
  });

  it('shows the stack of a fault below it, and those of its causes', () => {
    const { logger, lines } = terminal();
    const err = new AppError('DB_QUERY_FAILED', { cause: new Error('no connection') });
    logger.fatal({ requestId: ID, status: 500, code: 'DB_QUERY_FAILED', err }, 'A query failed.');
    const [first, ...stack] = lines();
    expect(first).toBe(`FATAL A query failed. status=500 code=DB_QUERY_FAILED ${ID}`);
    expect(stack).toContainEqual(`    AppError: ${err.message}`);
    expect(stack).toContainEqual(expect.stringMatching(/^ +at .*terminal-format\.test\.ts/));
    expect(stack).toContainEqual('    Error');
  });

  it('shows the type of an error that is redacted to its frames', () => {
    const { logger, lines } = terminal();
    logger.fatal({ err: { type: 'TypeError', stack: '    at a (b.ts:1:1)' } }, 'failed');
    expect(lines()).toEqual(['FATAL failed', '    TypeError', '        at a (b.ts:1:1)']);
  });

  it('shows what only a route that breaks its declaration logs', () => {
    const { logger, lines } = terminal();
    logger.error({ requestId: ID, route: 'probe', code: 'AUTH_FAILED' }, 'undeclared error code');
    expect(lines()).toEqual([`ERROR undeclared error code route=probe code=AUTH_FAILED ${ID}`]);
  });

  it.each([
    ['the target', { target: '/\u001b[2J\u009b1m' }],
    ['the reason', { reason: 'a\nb\u202e' }],
    ['the code', { code: 'a\u0007' }],
    ['the request id', { requestId: '\u001b]0;x' }],
  ])('passes no command to the terminal from %s', (_member, members) => {
    const { logger, text } = terminal();
    logger.info({ ...REQUEST, ...members }, 'request answered');
    logger.info(members, 'something else\u001b[2J');
    expect(text().replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(text().trimEnd().split('\n')).toHaveLength(2);
  });
});
