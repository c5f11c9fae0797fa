import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { boundedDestination } from '../../../src/infrastructure/logging/bounded-destination.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

const opened = (path: string, flags: number): number => {
  const fd = openSync(path, flags);
  onTestFinished(() => closeSync(fd));
  return fd;
};

/** A destination that leads into a pipe, and a function that reads what is in it. */
const piped = () => {
  const directory = temporaryDirectory();
  const path = join(directory.path, 'pipe');
  execFileSync('bash', ['-c', 'mkfifo "$0"', path]);
  const fd = opened(path, constants.O_RDWR | constants.O_NONBLOCK);
  const destination = boundedDestination(fd);
  onTestFinished(destination.close);
  const buffer = Buffer.alloc(1_048_576);
  let text = '';
  const read = (): string => {
    try {
      text += buffer.toString('utf8', 0, readSync(fd, buffer));
    } catch {
      // It is empty.
    }
    return text;
  };
  return { destination, read };
};

/** Lines of 1,000 bytes, each with a number. */
const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${String(index).padEnd(999, '.')}\n`);

it('a line is written before the next statement', () => {
  const { destination, read } = piped();
  destination.write('first\n');
  expect(read()).toBe('first\n');
});

it('lines wait for a pipe that is read later, whole and in their order', async () => {
  const { destination, read } = piped();
  const lines = [...numbered(500), `${'long'.repeat(50_000)}\n`, 'last\n'];
  for (const line of lines) destination.write(line);
  expect(read().length).toBeLessThan(100_000);
  await vi.waitFor(() => expect(read().endsWith('last\n')).toBe(true), { timeout: 60_000, interval: 1 });
  expect(read()).toBe(lines.join(''));
  expect(destination.lostLines()).toBe(0);
});

it('the end waits for a reader, but not for ever', async () => {
  const { destination, read } = piped();
  for (const line of numbered(100)) destination.write(line);
  const closed = destination.close();
  read();
  await closed;
  expect(read()).toBe(numbered(100).join(''));

  for (const line of numbered(100)) destination.write(line);
  await destination.close();
  expect(destination.lostLines()).toBeGreaterThan(0);
});

it('a pipe that nobody reads keeps a mebibyte; more is dropped, counted, and reported once when the rest was read', async () => {
  const { destination, read } = piped();
  const report = vi.fn();
  destination.onRecovery(report);
  for (const line of numbered(5_000)) destination.write(line);
  const lost = destination.lostLines();
  expect(lost).toBeGreaterThan(3_500);
  expect(lost).toBeLessThan(4_000);
  expect(report).not.toHaveBeenCalled();
  const isReported = () => {
    read();
    expect(report).toHaveBeenCalled();
  };
  await vi.waitFor(isReported, { timeout: 60_000, interval: 1 });
  expect(read()).toBe(
    numbered(5_000)
      .slice(0, 5_000 - lost)
      .join(''),
  );
  destination.write('again\n');
  expect(read().endsWith('again\n')).toBe(true);
  expect(report.mock.calls).toEqual([[lost]]);
});

it('a full disk keeps nobody waiting, and fails nothing', async () => {
  const destination = boundedDestination(opened('/dev/full', constants.O_WRONLY));
  for (const line of numbered(2_000)) destination.write(line);
  expect(destination.lostLines()).toBe(2_000 - Math.floor(1_048_576 / 1_000));
  await destination.close();
  expect(destination.lostLines()).toBe(2_000);
});

it('a process that crashes writes its last lines', () => {
  const directory = temporaryDirectory();
  const path = join(directory.path, 'output');
  const module = JSON.stringify(new URL('../../../src/infrastructure/logging/log.ts', import.meta.url));
  const program = `
    const { openLog } = await import(${module});
    const { logger } = await openLog({ logLevel: 'info', nodeEnv: 'production' }, 'stdout');
    for (let line = 0; line < 100; line += 1) logger.info('x'.repeat(1_000));
    logger.fatal('the last one');
    throw new Error('crash');`;
  const pipe = '"$0" --input-type=module --eval "$1" 2>&- | cat > "$2"';
  execFileSync('bash', ['-c', pipe, process.execPath, program, path]);
  const messages = readFileSync(path, 'utf8').trimEnd().split('\n');
  expect(messages).toHaveLength(101);
  expect(JSON.parse(messages.at(-1) ?? '')).toMatchObject({ level: 'fatal', msg: 'the last one' });
});
