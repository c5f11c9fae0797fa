import { describe, expect, it } from 'vitest';
import { createLogger, terminalText } from '../../../src/infrastructure/logging/log.ts';

const terminal = async () => {
  const toText = await terminalText();
  let written = '';
  const destination = {
    write: (line: string) => {
      written += toText(line);
    },
  };
  const logger = createLogger({ level: 'debug', nodeEnv: 'development', destination });
  return { logger, text: () => written };
};

describe('the log in a terminal', () => {
  it('shows a line for each message, with its members', async () => {
    const { logger, text } = await terminal();
    logger.info({ method: 'GET', status: 200 }, 'request answered');
    expect(text()).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: request answered \{"method":"GET","status":200\}\n$/);
  });

  it.each([
    ['a member', { target: '/\u001b[2J\u009b1m', reason: 'a\u202e' }],
    ['an error', { err: new Error('\u001b]0;x') }],
  ])('passes no command to the terminal from %s', async (_what, members) => {
    const { logger, text } = await terminal();
    logger.info(members, 'something\u001b[2J');
    expect(text().replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});
