// Proves ASVS 16.2.2, 16.2.5
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import { createLogger, type LoggerOptions, SECRET_NAMES } from '../../../src/infrastructure/logging/log.ts';
import { VERSION } from '../../../src/infrastructure/version.ts';

const SECRET = 'hunter2-marker';

const recorder = (options: Partial<LoggerOptions> = {}, mixin: () => object = () => ({})) => {
  const written: string[] = [];
  const destination = { write: (line: string) => void written.push(line) };
  const logger = createLogger({ level: 'trace', nodeEnv: 'production', destination, ...options }, mixin);
  return {
    logger,
    text: () => written.join(''),
    lines: () => written.map((line): Record<string, unknown> => JSON.parse(line)),
  };
};

describe('a line of the log', () => {
  it('is JSON with an ISO time, a named level, the version and the environment', () => {
    const { logger, lines } = recorder();
    logger.info({ port: 3000 }, 'listening');
    const [line] = lines();
    expect(line).toMatchObject({
      level: 'info',
      port: 3000,
      msg: 'listening',
      version: VERSION,
      environment: 'production',
      pid: process.pid,
    });
    expect(new Date(String(line?.time)).toISOString()).toBe(line?.time);
  });

  it('is not written below the level', () => {
    const { logger, lines } = recorder({ level: 'warn' });
    logger.info('quiet');
    logger.warn('loud');
    expect(lines().map(({ msg }) => msg)).toEqual(['loud']);
  });

  it('carries what the mixin gives, and leaves that as it was', () => {
    const scope = Object.freeze({ requestId: 'r1' });
    const { logger, lines } = recorder({}, () => scope);
    logger.info({ status: 200 }, 'a');
    logger.info('b');
    expect(lines()).toMatchObject([{ requestId: 'r1', status: 200 }, { requestId: 'r1' }]);
    expect(lines()[1]).not.toHaveProperty('status');
  });
});

describe('a text without end', () => {
  const endless = 'a'.repeat(100_000);
  const appError = (more: { message?: string; reason?: string }) => new AppError('AUTH_FAILED', more);

  it.each<[string, (log: ReturnType<typeof recorder>['logger']) => void]>([
    ['at the top', (logger) => logger.info({ text: endless })],
    ['deep down', (logger) => logger.info({ a: [{ b: { text: endless } }] })],
    ['in the message of an error', (logger) => logger.info({ err: appError({ message: endless }) }, 'failed')],
    ['in the message of an error alone', (logger) => logger.info(appError({ message: endless }))],
    ['in the reason of an error', (logger) => logger.info({ err: appError({ reason: endless }) })],
  ])('is cut off: %s', (_where, log) => {
    const { logger, text } = recorder();
    log(logger);
    expect(text()).toContain('aaa');
    expect(text().length).toBeLessThan(20_000);
  });
});

describe('a secret', () => {
  const shapes: [where: string, wrap: (member: object) => object][] = [
    ['at the top', (member) => member],
    ['in an object', (member) => ({ request: member })],
    ['deep down', (member) => ({ a: { b: { c: { d: member } } } })],
    ['in an array', (member) => ({ items: [{ list: [member] }] })],
    ['behind toJSON', (member) => ({ entity: { toJSON: () => ({ fields: member }) } })],
  ];

  describe.each(SECRET_NAMES)('named %s', (name) => {
    it.each(shapes)('is censored %s', (_where, wrap) => {
      const { logger, text } = recorder();
      logger.info(wrap({ [name]: SECRET, [name.toUpperCase()]: [SECRET], kept: 'kept' }), 'message');
      expect(text()).not.toContain(SECRET);
      expect(text()).toContain('"kept":"kept"');
      expect(text()).toContain('[Redacted]');
    });

    it('is censored among the bindings of a child', () => {
      const { logger, text } = recorder();
      logger.child({ [name]: SECRET }).info('message');
      expect(text()).not.toContain(SECRET);
    });
  });

  it('is censored in a copy: what was logged stays as it was', () => {
    const { logger } = recorder();
    const given = { headers: { cookie: SECRET } };
    logger.info(given);
    expect(given).toEqual({ headers: { cookie: SECRET } });
  });

  it('in a cycle is censored all the same', () => {
    const { logger, text } = recorder();
    const loop: Record<string, unknown> = { password: SECRET };
    loop.self = loop;
    logger.info({ loop });
    expect(text()).toContain('[Redacted]');
    expect(text()).not.toContain(SECRET);
  });
});

describe('an error', () => {
  const driverError = (message: string) =>
    Object.assign(new Error(message), {
      code: '23505',
      sql: SECRET,
      parameters: [SECRET],
      detail: SECRET,
      query: { text: SECRET },
      errors: [new Error(SECRET)],
    });

  it.each([
    ['err', (error: Error) => ({ err: error })],
    ['another name', (error: Error) => ({ error })],
    ['a nested name', (error: Error) => ({ job: { failure: error } })],
    ['a list', (error: Error) => ({ failures: [error] })],
    ['no name', (error: Error) => error],
  ])('under %s shows its type and code, and nothing of its message and its other members', (_name, wrap) => {
    const { logger, text } = recorder();
    logger.error(wrap(driverError(`duplicate key: ${SECRET}`)));
    expect(text()).not.toContain(SECRET);
    expect(text()).toContain('"type":"Error"');
    expect(text()).toContain('23505');
  });
  it('among the bindings of a child shows nothing of its message and its other members', () => {
    const { logger, text } = recorder();
    logger.child({ err: driverError(`duplicate key: ${SECRET}`) }).error('failed');
    expect(text()).not.toContain(SECRET);
    expect(text()).toContain('23505');
  });
});
