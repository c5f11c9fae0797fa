import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { notesOf } from './notes.ts';
import { tryOut } from './try-out.ts';

/**
 * `npm run release -- --dry-run`: makes everything that a release has out of the last commit, twice with equal bytes, and runs what was packed.
 * The workflow `release.yml` publishes it. CONTRIBUTING.md, "Releases".
 */
const ROOT = join(import.meta.dirname, '..');

const run = (command: string, args: readonly string[], cwd = ROOT): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 26 });
const say = (text: string) => process.stdout.write(`${text}\n`);

const checkOut = (commit: string, directory: string): string => {
  run('git', ['clone', '--quiet', '--no-checkout', ROOT, directory]);
  run('git', ['checkout', '--quiet', '--detach', commit], directory);
  return directory;
};

/** npm writes the time and a random number, which would differ in each build. */
const bomOf = (checkout: string, time: string): string => {
  const npm = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'];
  const { serialNumber: _random, metadata, ...bom } = JSON.parse(run('npm', npm, checkout));
  const component = { ...metadata.component, name: 'tandem' };
  return `${JSON.stringify({ ...bom, metadata: { ...metadata, component, timestamp: time } }, null, 2)}\n`;
};

/** Makes a release in a directory. @returns the version, and the checksums as `sha256sum --check` reads them */
const build = (commit: string, checkout: string, out: string): { readonly version: string; readonly sums: string } => {
  checkOut(commit, checkout);
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
  mkdirSync(out, { recursive: true });
  run('npm', ['pack', '.', './client', '--pack-destination', out, '--silent'], checkout);
  const write = (file: string, text: string) => writeFileSync(join(out, file), text);
  const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  const notes = notesOf(readFileSync(join(checkout, 'CHANGELOG.md'), 'utf8'), version);
  write('RELEASE.md', notes.release);
  write('UPGRADE.md', notes.upgrade);
  write('sbom.cdx.json', bomOf(checkout, run('git', ['show', '-s', '--format=%cI', commit]).trim()));
  // What the Dockerfile copies.
  const files = 'package.json package-lock.json .npmrc src client/dist console/page';
  write('image-files.sha256', run('sh', ['-c', `git ls-files -z ${files} | xargs -0 sha256sum`], checkout));
  const sums = run('sh', ['-c', 'LC_ALL=C; sha256sum *'], out);
  write('SHA256SUMS', sums);
  return { version, sums };
};

const { values } = parseArgs({
  options: { 'dry-run': { type: 'boolean' }, out: { type: 'string' }, former: { type: 'string' } },
});
const scratch = mkdtempSync(join(tmpdir(), 'tandem-build-'));
try {
  if (!values['dry-run'])
    throw new Error('Only the workflow publishes: npm run release -- --dry-run [--out DIRECTORY] [--former COMMIT]');
  if (run('git', ['status', '--porcelain']) !== '') throw new Error('There are changes that are not committed.');
  const out = values.out ?? mkdtempSync(join(tmpdir(), 'tandem-release-'));
  if (values.out !== undefined) rmSync(out, { recursive: true, force: true });
  const commit = run('git', ['rev-parse', 'HEAD']).trim();
  const { version, sums } = build(commit, join(scratch, 'first'), out);
  const again = build(commit, join(scratch, 'second'), join(scratch, 'again'));
  if (again.sums !== sums) throw new Error(`Two builds differ:\n${sums}\n${again.sums}`);
  say(`Built twice, with equal bytes:\n${sums}`);
  const tags = run('git', ['tag', '--list', 'v*', '--merged', 'HEAD~1', '--sort=-version:refname']).split('\n');
  const former = values.former ?? tags[0];
  const formerCheckout = former ? checkOut(former, join(scratch, 'former')) : undefined;
  if (formerCheckout) run('npm', ['ci', '--omit=dev', '--silent'], formerCheckout);
  else say('No former release has a tag: no upgrade is tried.');
  const archive = (name: string) => `file:${join(out, `${name}-${version}.tgz`)}`;
  const packages = { tandem: archive('tandem'), 'tandem-client': archive('tandem-client') };
  say(await tryOut(join(scratch, 'empty'), packages, formerCheckout));
  say(`The release is in ${out}.`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
