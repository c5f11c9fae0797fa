import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { notesOf } from './notes.ts';
import { tryOut } from './try-out.ts';

/**
 * `npm run release -- --dry-run`: makes everything that a release has out of the last commit, twice with equal bytes, and runs what was packed.
 * The workflow `release.yml` publishes it. CONTRIBUTING.md, "Release".
 */
const ROOT = join(import.meta.dirname, '..');
const USAGE = 'Usage: npm run release -- --dry-run [--out DIRECTORY] [--former COMMIT]';

/** What the Dockerfile copies. */
const OF_IMAGE = ['package.json', 'package-lock.json', '.npmrc', 'src', 'client/dist', 'console/page'];

const run = (command: string, args: readonly string[], cwd = ROOT): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 26 });
const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex');
const say = (text: string) => process.stdout.write(`${text}\n`);

const checkOut = (commit: string, directory: string): string => {
  run('git', ['clone', '--quiet', '--no-checkout', ROOT, directory]);
  run('git', ['checkout', '--quiet', '--detach', commit], directory);
  return directory;
};

/** npm writes the time and a random number, which would differ in each build. */
const bomOf = (checkout: string, commit: string, time: string): string => {
  const bom = JSON.parse(
    run('npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'], checkout),
  );
  const id = commit.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');
  bom.metadata.component.name = 'tandem';
  return `${JSON.stringify({ ...bom, serialNumber: `urn:uuid:${id}`, metadata: { ...bom.metadata, timestamp: time } }, null, 2)}\n`;
};

/** The checksum of each file of the image, as `sha256sum --check` reads them in a clone. */
const imageOf = (checkout: string): string =>
  run('git', ['ls-files', ...OF_IMAGE], checkout)
    .trim()
    .split('\n')
    .map((file) => `${sha256(readFileSync(join(checkout, file)))}  ${file}\n`)
    .join('');

/** Makes a release in a directory. @returns its checksums */
const build = (commit: string, checkout: string, out: string): string => {
  const time = run('git', ['show', '-s', '--format=%cI', commit]).trim();
  checkOut(commit, checkout);
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
  mkdirSync(out, { recursive: true });
  run('npm', ['pack', '.', './client', '--pack-destination', out, '--silent'], checkout);
  const write = (file: string, text: string) => writeFileSync(join(out, file), text);
  const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  const notes = notesOf(readFileSync(join(checkout, 'CHANGELOG.md'), 'utf8'), version);
  write('sbom.cdx.json', bomOf(checkout, commit, time));
  write('image-files.sha256', imageOf(checkout));
  write('RELEASE.md', notes.release);
  write('UPGRADE.md', notes.upgrade);
  const files = readdirSync(out).toSorted();
  const sums = files.map((file) => `${sha256(readFileSync(join(out, file)))}  ${file}\n`).join('');
  write('SHA256SUMS', sums);
  return sums;
};

/** A checkout of the release before, with its own packages. */
const checkOutFormer = (commit: string, directory: string): string => {
  run('npm', ['ci', '--silent'], checkOut(commit, directory));
  return directory;
};

const lastTag = (): string | undefined =>
  run('git', ['tag', '--list', 'v*', '--merged', 'HEAD~1', '--sort=-version:refname']).split('\n')[0] || undefined;

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: { 'dry-run': { type: 'boolean' }, out: { type: 'string' }, former: { type: 'string' } },
  });
  if (!values['dry-run']) throw new Error(`${USAGE}\nOnly the workflow publishes.`);
  if (run('git', ['status', '--porcelain']) !== '') throw new Error('There are changes that are not committed.');
  const out = values.out ?? mkdtempSync(join(tmpdir(), 'tandem-release-'));
  if (values.out !== undefined) rmSync(out, { recursive: true, force: true });
  const scratch = mkdtempSync(join(tmpdir(), 'tandem-build-'));
  try {
    const commit = run('git', ['rev-parse', 'HEAD']).trim();
    const sums = build(commit, join(scratch, 'first'), out);
    if (build(commit, join(scratch, 'second'), join(scratch, 'again')) !== sums)
      throw new Error(`Two builds differ:\n${sums}\n${readFileSync(join(scratch, 'again/SHA256SUMS'), 'utf8')}`);
    say(`Built twice, with equal bytes:\n${sums}`);
    const former = values.former ?? lastTag();
    if (former === undefined) say('No former release has a tag: no upgrade is tried.');
    const archives = readdirSync(out).filter((file) => file.endsWith('.tgz'));
    await tryOut({
      archives: archives.map((file) => join(out, file)),
      former: former === undefined ? undefined : checkOutFormer(former, join(scratch, 'former')),
      directory: join(scratch, 'empty'),
      conformance: join(ROOT, 'conformance/main.ts'),
      say,
    });
    say(`The release is in ${out}.`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
};

await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
