import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT, readText } from '../test/support/checkout/repository.ts';
import { tryOut } from './try-out.ts';

/**
 * `npm run release -- --dry-run`: makes everything that a release has out of the last commit, twice with equal bytes, and runs what was packed.
 * The workflow `release.yml` publishes it. CONTRIBUTING.md, "Releases".
 */
const run = (command: string, args: readonly string[], cwd = ROOT): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 26 });
const git = (...args: string[]): string => run('git', args).trim();
const say = (text: string) => process.stdout.write(`${text}\n`);

const checkOut = (commit: string, directory: string): string => {
  git('clone', '--quiet', '--no-checkout', ROOT, directory);
  git('-C', directory, 'checkout', '--quiet', '--detach', commit);
  return directory;
};

const { version } = JSON.parse(readText('package.json'));
const commit = git('rev-parse', 'HEAD');
/** What the Dockerfile copies. */
const OF_IMAGE = 'package.json package-lock.json .npmrc src client/dist console/page';

/** Makes a release of the last commit. @returns the checksums as `sha256sum --check` reads them */
const build = (scratch: string, out: string): string => {
  // npm names what the SBOM is about after its directory.
  const checkout = checkOut(commit, join(scratch, 'tandem'));
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
  mkdirSync(out, { recursive: true });
  run('npm', ['pack', '.', './client', '--pack-destination', out, '--silent'], checkout);
  const write = (file: string, text: string) => writeFileSync(join(out, file), text);
  // What is unreleased, or, when that is nothing, the section of the version.
  const sections = readText('CHANGELOG.md').split(/\n## /);
  const [title, body = ''] =
    sections.find((each) => /^Unreleased\s+\S/.test(each) || each.startsWith(`${version} `))?.split(/\n(.*)/s) ?? [];
  if (title === undefined) throw new Error(`CHANGELOG.md has nothing unreleased, and nothing about ${version}.`);
  const entries = body.split(/\n(?=- |### )/).map((entry) => entry.trim());
  // Those that ask for something say so in bold.
  const asking = entries.filter((entry) => /\*\*(?:Breaks|Refused|Verifiers|Operators)/.test(entry)).join('\n');
  write('RELEASE.md', `# Tandem ${title}\n\n${body.trim()}\n`);
  write('UPGRADE.md', `# Upgrade to ${title}\n\n${asking || 'Nothing to do.'}\n`);
  // npm writes a random number and the time, which would differ in each build.
  const time = `"timestamp": "${git('show', '-s', '--format=%cI', commit)}"`;
  const npm = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'];
  const bom = run('npm', npm, checkout).replace(/^ *"serialNumber".*\n/m, '');
  write('sbom.cdx.json', bom.replace(/"timestamp": ".*"/, time));
  write('image-files.sha256', run('sh', ['-c', `git ls-files -z ${OF_IMAGE} | xargs -0 sha256sum`], checkout));
  const sums = run('sh', ['-c', 'LC_ALL=C; sha256sum *'], out);
  write('SHA256SUMS', sums);
  return sums;
};

const { values } = parseArgs({
  options: { 'dry-run': { type: 'boolean' }, out: { type: 'string' }, former: { type: 'string' } },
});
if (!values['dry-run'])
  throw new Error('Only the workflow publishes: npm run release -- --dry-run [--out DIRECTORY] [--former COMMIT]');
if (git('status', '--porcelain') !== '') throw new Error('There are changes that are not committed.');
const scratch = mkdtempSync(join(tmpdir(), 'tandem-build-'));
try {
  const out = resolve(values.out ?? mkdtempSync(join(tmpdir(), 'tandem-release-')));
  if (values.out !== undefined) rmSync(out, { recursive: true, force: true });
  const sums = build(join(scratch, 'first'), out);
  const again = build(join(scratch, 'second'), join(scratch, 'again'));
  if (again !== sums) throw new Error(`Two builds differ:\n${sums}\n${again}`);
  say(`Built twice, with equal bytes:\n${sums}`);
  const [tag] = git('tag', '--list', 'v*', '--merged', 'HEAD~1', '--sort=-version:refname').split('\n');
  const former = values.former ?? tag;
  const formerCheckout = former ? checkOut(former, join(scratch, 'former')) : undefined;
  if (formerCheckout) run('npm', ['ci', '--omit=dev', '--silent'], formerCheckout);
  const archive = (name: string) => `file:${join(out, `${name}-${version}.tgz`)}`;
  const packages = { tandem: archive('tandem'), 'tandem-client': archive('tandem-client') };
  say(await tryOut(join(scratch, 'empty'), packages, formerCheckout));
  say(`The release is in ${out}.`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
