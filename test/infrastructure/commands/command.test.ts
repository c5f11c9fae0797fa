import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../src/infrastructure/commands/run.ts';
import { runHere } from '../../support/processes/commands.ts';

/** Characters that a terminal takes for commands. */
const CONTROLS = /[\p{Cc}\p{Cf}]/u;

describe.each(Object.keys(COMMANDS))('npx tandem %s', (name) => {
  it.each([
    ['a name that every object has', ['constructor']],
    ['an unknown option', ['--\u001b[2Jnone']],
  ])('refuses %s with its help, also to programs, and shows no control characters', async (_what, args) => {
    const { status, stdout, stderr } = await runHere([name, ...args, '--json']);
    expect([status, JSON.parse(stdout).error.code]).toEqual([2, 'arguments']);
    expect(stderr).toContain(`\nnpx tandem ${name}`);
    expect(stderr.replaceAll('\n', '')).not.toMatch(CONTROLS);
  });

  it('has help', async () => {
    const { status, stdout } = await runHere([name, 'x', '--help']);
    expect([status, stdout]).toEqual([0, expect.stringContaining(`npx tandem ${name}`)]);
  });
});

it.each([
  [['keys', 'generate', 'check']],
  [['keys', 'factors', '--re-encrypt', '--out', 'x']],
  [['keys', 'rotate', '--re-encrypt']],
  [['keys', 'generate', '--out']],
  [['data', 'restore', 'a', 'b']],
  [['data', 'backup', 'a', '--dry-run']],
  [['users']],
  [['users', 'find']],
  [['users', 'find', 'ada', 'bob']],
  [['templates', 'eject']],
])('refuses %j, which is too much, too little, or of another action', async (args) => {
  expect(await runHere(args)).toMatchObject({ status: 2, stderr: expect.stringContaining(`npx tandem ${args[0]} `) });
});

it('says in the help of backups that they are secret', async () => {
  expect((await runHere(['data', '--help'])).stdout).toContain('A BACKUP IS SECRET');
});
