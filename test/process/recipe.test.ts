import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyCheckout } from '../support/checkout/copy-checkout.ts';
import { ROOT, readText } from '../support/checkout/repository.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const [, afterHeading = ''] = readText('CONTRIBUTING.md').split('\n## Add a route with a table\n');
const [recipe = ''] = afterHeading.split('\n## ');
/** What the recipe writes: a whole file, or changes of one. */
const steps = [...recipe.matchAll(/^\*\*`([^`]+)`\*\*[^\n]*\n\n```(ts|diff)\n([\s\S]*?)\n```$/gm)].map(
  ([, path = '', kind, text = '']) => ({ path, kind, text }),
);

/** The lines of a change without their first character: those that are there before it, or after it. */
const lines = (change: string, other: '+' | '-'): string =>
  change
    .split('\n')
    .filter((line) => !line.startsWith(other))
    .map((line) => line.slice(1))
    .join('\n');

/** @throws when the place of a change is not in the text exactly once. */
const changed = (text: string, changes: string): string =>
  changes.split('\n…\n').reduce((before, change) => {
    const [place, replacement] = [lines(change, '+'), lines(change, '-')];
    expect(`\n${before}`.split(`\n${place}\n`), place).toHaveLength(2);
    return `\n${before}`.replace(`\n${place}\n`, () => `\n${replacement}\n`).slice(1);
  }, text);

const checkout = temporaryDirectory();
afterAll(checkout.remove);
beforeAll(() => {
  copyCheckout(checkout.path);
  execFileSync('git', ['init', '--quiet'], { cwd: checkout.path });
  for (const { path, kind, text } of steps) {
    const file = join(checkout.path, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, kind === 'diff' ? changed(readFileSync(file, 'utf8'), text) : `${text}\n`);
  }
});

const run = (command: string, ...args: string[]) => {
  const { stdout, stderr, status } = spawnSync(command, args, { cwd: checkout.path, encoding: 'utf8' });
  return status === 0 ? 'passed' : `${stdout}${stderr}`;
};
/** The same for a program of the packages of the checkout. */
const runInstalled = (program: string, ...args: string[]) => run(join(ROOT, 'node_modules/.bin', program), ...args);

describe('the recipe for a route with a table', () => {
  it('writes as many files as it says, each once', () => {
    expect(recipe).toContain(`${new Set(steps.map(({ path }) => path)).size} files are written by hand`);
    expect(new Set(steps.map(({ path }) => path)).size).toBe(steps.length);
  });

  it('leaves the checks of the checkout as they were: types, style, and what is unused', () => {
    expect(run('npm', 'run', 'docs')).toBe('passed');
    // The other compilers and files do not know what it writes. Checkers in parallel check much twice.
    for (const more of [
      ['--checkers', '1'],
      ['-p', 'tsconfig.core.json'],
    ])
      expect(runInstalled('tsc', ...more)).toBe('passed');
    const sources = steps.map(({ path }) => path).filter((path) => path.endsWith('.ts'));
    expect(runInstalled('biome', 'check', '--error-on-warnings', ...sources)).toBe('passed');
    expect(runInstalled('knip')).toBe('passed');
  });

  it('adds routes that work and are documented, and a repository that keeps its promises over every database', () => {
    const tests = [
      'test/architecture/{parity,docs,openapi-document}.test.ts',
      'test/http/{location,ended-sessions,bad-input}.test.ts',
      'test/adapters/records/{memory,sqlite,postgresql}.test.ts',
      'test/infrastructure/database/schema.test.ts',
    ].flatMap(expandedOf);
    // What is about other routes and stores is as it was.
    const added = ['location', 'the city of a user', 'LocationRepository', 'becomes', 'the contract'];
    const pages = ['the layers', 'docs/api.md', 'the OpenAPI document'];
    const report = join(checkout.path, 'report.json');
    const outcome = runInstalled(
      'vitest',
      ...['run', '--maxWorkers', '1', '--reporter', 'json', '--outputFile', report],
      ...['core', 'http', 'adapters', 'rest-servers'].flatMap((name) => ['--project', name]),
      ...['-t', [...added, ...pages].join('|')],
      ...tests,
    );
    const { testResults }: Report = JSON.parse(readFileSync(report, 'utf8'));
    const failed = testResults.flatMap(({ assertionResults }) =>
      assertionResults.filter(({ status }) => status === 'failed'),
    );
    expect(failed.map(({ fullName, failureMessages }) => [fullName, failureMessages[0]])).toEqual([]);
    expect(outcome).toBe('passed');
    const ran = tests.filter((path) =>
      testResults.some(
        ({ name, assertionResults }) =>
          name.endsWith(path) && assertionResults.some(({ status }) => status === 'passed'),
      ),
    );
    expect(ran).toEqual(tests);
  });
});

type Report = {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
};

/** `a/{b,c}.ts` as `a/b.ts` and `a/c.ts`. */
const expandedOf = (pattern: string): string[] => {
  const [, before = '', names, after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(pattern) ?? [];
  return names === undefined ? [pattern] : names.split(',').map((name) => `${before}${name}${after}`);
};
