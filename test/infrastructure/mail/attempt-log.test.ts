import { expect, it } from 'vitest';
import { NO_ORIGIN } from '../../../src/domain/event.ts';
import { newMessage } from '../../../src/domain/message.ts';
import { logOfMail } from '../../../src/infrastructure/delivery.ts';

const MESSAGE = newMessage(
  { kind: 'new-device', userId: 'u', to: 'ada@example.org' },
  { id: 'm', at: 0, origin: NO_ORIGIN },
);

const logged = () => {
  const lines: [level: string, line: string][] = [];
  const at =
    (level: string) =>
    (...given: unknown[]) =>
      void lines.push([level, JSON.stringify(given)]);
  const log = logOfMail({ debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } as never);
  return { lines, levels: () => lines.map(([level]) => level), log };
};

it('warns of the first failure alone, until mail can be sent again', () => {
  const { levels, log } = logged();
  for (const outcome of ['failed', 'failed', 'dropped', 'failed', 'sent', 'sent', 'failed'] as const)
    log(outcome, MESSAGE);
  expect(levels()).toEqual(['warn', 'debug', 'debug', 'debug', 'info', 'debug', 'debug', 'warn']);
});

it('reports each mail that is lost', () => {
  const { levels, log } = logged();
  for (const outcome of ['given-up', 'refused', 'given-up'] as const) log(outcome, MESSAGE);
  expect(levels()).toEqual(['error', 'warn', 'error']);
});

it('names the message, and not the address', () => {
  const { lines, log } = logged();
  for (const outcome of ['sent', 'refused', 'dropped', 'failed', 'given-up'] as const) log(outcome, MESSAGE);
  for (const [, line] of lines) {
    expect(line).toContain('"id":"m"');
    expect(line).not.toContain('@');
  }
});
