import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { checkedOutRevision } from '../../src/infrastructure/version.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const OTHER = 'f'.repeat(40);

/** The revision of a directory with these files. */
const revisionWith = (files: Readonly<Record<string, string>>) => {
  const { path } = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return checkedOutRevision(pathToFileURL(`${path}/`));
};

const ON_MAIN = { '.git/HEAD': 'ref: refs/heads/main\n' };
const PACKED = `# pack-refs with: peeled fully-peeled sorted\n${OTHER} refs/heads/another/refs/heads/main\n${COMMIT} refs/heads/main\n`;

it.each([
  [
    'of a branch',
    { ...ON_MAIN, '.git/refs/heads/main': `${COMMIT}\n`, '.git/packed-refs': PACKED.replace(COMMIT, OTHER) },
  ],
  ['of a branch that Git has packed', { ...ON_MAIN, '.git/packed-refs': PACKED }],
  ['that is checked out without a branch', { '.git/HEAD': `${COMMIT}\n` }],
])('the revision is the commit %s', (_what, files) => {
  expect(revisionWith(files)).toBe(COMMIT);
});

it.each([
  ['no clone', {}],
  ['a clone without a commit', ON_MAIN],
  ['a linked worktree', { '.git': 'gitdir: /elsewhere\n' }],
])('in %s it is unknown', (_what, files) => {
  expect(revisionWith(files)).toBeNull();
});

it('it is what Git says', () => {
  const { path } = temporaryDirectory();
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', path, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      encoding: 'utf8',
    }).trim();
  git('init', '--quiet');
  git('commit', '--quiet', '--allow-empty', '--message', 'a');
  const commit = git('rev-parse', 'HEAD');
  const revision = () => checkedOutRevision(pathToFileURL(`${path}/`));
  expect(revision()).toBe(commit);
  git('pack-refs', '--all');
  expect(revision()).toBe(commit);
});
