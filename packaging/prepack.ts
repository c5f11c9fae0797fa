import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkedOutRevision } from '../src/infrastructure/version.ts';

/**
 * `npm pack` runs this first. It compiles what the package needs into `dist`, laid out as the checkout is, and puts the manifest of the
 * package in the place of that of the checkout, which `postpack` puts back. ADR 0021.
 */
process.chdir(join(import.meta.dirname, '..'));

const OUTPUT = 'dist';
/** What the service reads beside its code. */
const ASSETS = [
  'client/dist/{client,client-account,client-passkeys,continue-page,device-key,user-pages}.js',
  'console/page/*',
  'src/adapters/http/pages/{,templates/}*.{css,js,svg,html,json}',
  'src/application/mail/templates/*',
];

/** For the contracts, for the declarations, and for the databases of these names. */
const OPTIONAL = ['vitest', '@types/koa', '@mikro-orm/mariadb', '@mikro-orm/mysql'];

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
/** Where the compiled form of a source is in the package. */
const compiled = (source: string, extension: '.js' | '.d.ts'): string =>
  `./${join(OUTPUT, source).replace(/\.[jt]s$/, extension)}`;

const { bin, exports, devDependencies, ...own } = JSON.parse(readFileSync('package.json', 'utf8'));
const KEPT = ['name', 'version', 'description', 'license', 'repository', 'type', 'engines', 'files', 'dependencies'];

const manifest = {
  ...Object.fromEntries(KEPT.map((member) => [member, own[member]])),
  bin: Object.fromEntries(Object.entries<string>(bin).map(([command, source]) => [command, compiled(source, '.js')])),
  exports: Object.fromEntries(
    Object.entries<string>(exports).map(([path, source]) => [
      path,
      { types: compiled(source, '.d.ts'), default: compiled(source, '.js') },
    ]),
  ),
  peerDependencies: Object.fromEntries(OPTIONAL.map((peer) => [peer, `^${devDependencies[peer]}`])),
  peerDependenciesMeta: Object.fromEntries(OPTIONAL.map((peer) => [peer, { optional: true }])),
};

rmSync(OUTPUT, { recursive: true, force: true });
execFileSync('tsc', ['--checkers', '1', '-p', 'packaging'], { stdio: 'inherit' });
for (const file of globSync(ASSETS)) cpSync(file, join(OUTPUT, file));
// The service reads its version from it, and the commit.
const revision = checkedOutRevision(new URL('../', import.meta.url)) ?? undefined;
writeFileSync(join(OUTPUT, 'package.json'), json({ type: own.type, version: own.version, revision }));
copyFileSync('package.json', '.package.json');
writeFileSync('package.json', json(manifest));
