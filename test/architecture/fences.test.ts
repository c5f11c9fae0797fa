import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PAGES } from '../../src/adapters/http/forms/flow.ts';
import { ROOT, readText } from '../support/checkout/repository.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

/** A temporary project with the rules of this one, for files that violate them. */
const project = temporaryDirectory();
const plant = (path: string, code: string): void => {
  mkdirSync(dirname(join(project.path, path)), { recursive: true });
  writeFileSync(join(project.path, path), code);
};
plant('biome.json', JSON.stringify({ ...JSON.parse(readText('biome.json')), vcs: { enabled: false } }));
plant('package.json', '{ "type": "module" }');
plant('src/domain/user.ts', 'export {};\n');

/** Runs a tool of this project in the temporary one. @returns whether it succeeded, and its output. */
const run = (tool: string, args: readonly string[]) => {
  const command = join(ROOT, 'node_modules/.bin', tool);
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: project.path, encoding: 'utf8' });
  return { ok: status === 0, output: stdout + stderr };
};

const lint = (path: string, code: string) => {
  plant(path, `${code}\n`);
  return run('biome', ['lint', path]);
};

describe('the linter', () => {
  it.each([
    ['domain/planted.ts', `import 'valibot';`, 'imports no package'],
    ['domain/planted.ts', `import '@koa/cors';`, 'imports no package'],
    ['domain/planted.ts', `import 'node:fs';`, 'imports no package'],
    ['domain/errors/planted.ts', `import '../../application/ports/clock-and-ids.ts';`, 'only itself'],
    ['domain/planted.ts', 'export const now = Date.now();', 'Clock port'],
    ['domain/planted.ts', `import './user';`, 'extension'],
    ['domain/planted.ts', `export * from './user.ts';`, 'barrel'],
    ['application/planted.ts', `import 'jose';`, 'imports no package'],
    ['application/sessions/planted.ts', `import '../../adapters/clock/system.ts';`, 'own ports'],
    ['application/planted.ts', `import '../infrastructure/main.js';`, 'own ports'],
    ['application/planted.ts', 'export const now = new Date();', 'Clock port'],
    ['adapters/log/planted.ts', `import '../../infrastructure/main.js';`, 'know no process'],
    ['adapters/http/stages/planted.ts', `import '../../../infrastructure/main.js';`, 'know no process'],
    ['adapters/log/planted.ts', `import '../crypto/jws.ts';`, "don't know each other"],
    ['adapters/http/stages/planted.ts', `import '../../crypto/secrets.ts';`, "don't know each other"],
    ['adapters/records/rotation/planted.ts', `import '../../crypto/secrets.ts';`, "don't know each other"],
    ['adapters/log/planted.ts', 'export const home = process.env.HOME;', 'process.env'],
    ['infrastructure/planted.ts', `console.log('hello');`, 'console'],
    ['../conformance/checks/planted.ts', `import '../../src/domain/user.ts';`, 'no code of the service'],
  ])('refuses in src/%s: %s', (path, code, reason) => {
    const { ok, output } = lint(join('src', path), code);
    expect(ok).toBe(false);
    expect(output).toContain(reason);
  });

  it.each([
    ['domain/planted.ts', `import './user.ts';`],
    ['application/sessions/planted.ts', `import '../../domain/user.ts';`],
    ['adapters/log/planted.ts', `import 'jose';\nimport '../json/fields.ts';`],
    ['adapters/http/stages/planted.ts', `import '../envelope.ts';`],
    ['infrastructure/planted.ts', `import '../adapters/clock/system.ts';`],
  ])('accepts in src/%s: %s', (path, code) => {
    expect(lint(join('src', path), code)).toMatchObject({ ok: true });
  });

  it('refuses a circle of imports, also one that types alone close', () => {
    plant('src/domain/one.ts', `import type { Two } from './two.ts';\n\nexport type One = { readonly two: Two };\n`);
    const two = `import type { One } from './one.ts';\n\nexport type Two = { readonly one: One };`;
    const { ok, output } = lint('src/domain/two.ts', two);
    expect(ok).toBe(false);
    expect(output).toContain('noImportCycles');
  });
});

describe('the subjects of the application', () => {
  /** What each subject may import, besides itself and the files that stand beside the subjects. `ports` imports only the domain. */
  const ARROWS = {
    accounts: ['factors', 'login', 'mail', 'sessions', 'ports', 'storage'],
    factors: ['login', 'mail', 'sessions', 'ports', 'storage'],
    identities: ['accounts', 'login', 'sessions', 'ports', 'storage'],
    login: ['sessions', 'ports', 'storage'],
    mail: ['sessions', 'ports', 'storage'],
    sessions: ['ports', 'storage'],
    webhooks: ['ports', 'storage'],
    storage: ['ports'],
    ports: [],
    '.': ['ports', 'storage'],
  } as const satisfies Readonly<Record<string, readonly string[]>>;
  const folder = join(ROOT, 'src/application');
  // `deps.ts` names the types of all subjects, and no subject imports it.
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .filter((path) => path !== 'deps.ts');
  const subjectOf = (path: string) => dirname(path).split('/')[0] ?? '.';
  const importsOf = (path: string) =>
    [...readText(`src/application/${path}`).matchAll(/^(?:import|\}) .*from '(\.[^']+)'/gm)]
      .map(([, target = '']) => join(dirname(path), target))
      .filter((target) => !target.startsWith('..'));

  it('are those that a new folder is added to', () => {
    expect([...new Set(files.map(subjectOf))].toSorted()).toEqual(Object.keys(ARROWS).toSorted());
  });

  it.each(Object.entries(ARROWS))('%s imports nothing but %j', (subject, allowed: readonly string[]) => {
    const imports = files.filter((path) => subjectOf(path) === subject).flatMap(importsOf);
    expect(imports).not.toContain('deps.ts');
    const others = imports.filter((target) => subjectOf(target) !== '.').map(subjectOf);
    expect([...new Set(others)].filter((each) => each !== subject && !allowed.includes(each))).toEqual([]);
  });

  it('keep their imports where these tests read them', () => {
    expect(importsOf('accounts/register.ts').map(subjectOf)).toEqual(
      expect.arrayContaining(['login', 'sessions', 'storage']),
    );
  });
});

it('no file beside the routes imports one of them: what they share is below', () => {
  const files = ['json', 'http'].flatMap((folder) =>
    readdirSync(join(ROOT, 'src/adapters', folder), { recursive: true, encoding: 'utf8' })
      .map((path) => join(folder, path))
      .filter((path) => path.endsWith('.ts') && !path.startsWith('http/routes/')),
  );
  expect(files.length).toBeGreaterThan(40);
  expect(
    files.filter((path) => /(?:from|import\() ?'\.[^']*\/routes\//.test(readText(`src/adapters/${path}`))),
  ).toEqual([]);
});

it('the import of users knows nothing of HTTP: what both check is in json', () => {
  const files = readdirSync(join(ROOT, 'src/infrastructure/import'), { recursive: true, encoding: 'utf8' });
  expect(files).toContain('line.ts');
  const sources = files.filter((path) => path.endsWith('.ts'));
  expect(
    sources.filter((path) => readText(join('src/infrastructure/import', path)).includes('adapters/http/')),
  ).toEqual([]);
});

describe('conditions over the name of a page or a form', () => {
  const PAGE = `'(?:${Object.keys(PAGES).join('|')})'`;
  const COMPARED = new RegExp(
    [
      String.raw`\b(?:name|page|pageName|detour|otherPage)\b [!=]== ${PAGE}`,
      String.raw`\b(?:form|formName)\b(?:\.name)? [!=]== '`,
      String.raw`\[[^\]\n]*${PAGE}[^\]\n]*\]\.includes\(`,
      `case ${PAGE}:`,
    ].join('|'),
  );

  it('are in the table of pages alone', () => {
    const files = ['forms', 'pages'].flatMap((folder) =>
      readdirSync(join(ROOT, 'src/adapters/http', folder)).map((path) => `src/adapters/http/${folder}/${path}`),
    );
    const sources = files.filter((path) => path.endsWith('.ts'));
    expect(sources.length).toBeGreaterThan(15);
    expect(sources.filter((path) => COMPARED.test(readText(path)))).toEqual([]);
  });

  it.each([
    ...["name === 'factors'", "page !== 'check-mail'", "view.name === 'register'", "state?.form === 'mail-code'"],
    ...["['account', 'delete'].includes(name)", "case 'log-in':", "detour === 'prove'"],
  ])('are found in %s', (code) => expect(code).toMatch(COMPARED));
});

describe('time and chance', () => {
  const ADAPTERS = /^(?:clock\/.*|crypto\/secrets\.ts|tracing\/spans\.ts)$/;
  const GLOBALS =
    /\bDate\.now\b|\bnew Date(?:\(\)|\b(?!\())|\bperformance\.(?:now|timeOrigin)\b|\bhrtime\b|\bMath\.random\b|\brandom(?:Bytes|Fill|FillSync|Int|UUID)\b|\bgetRandomValues\b/;

  it('come from the adapters of the clock, of ids and of secrets alone', () => {
    const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.[jt]s$/.test(path))
      .filter((path) => GLOBALS.test(readText(join('src', path))));
    expect(sources.filter((path) => !ADAPTERS.test(path.replace('adapters/', '')))).toEqual([]);
    expect(sources).toHaveLength(4);
  });

  it.each([
    ...['Date.now()', 'new Date()', 'new Date;', 'performance.now()', 'process.hrtime()', 'Math.random()'],
    ...['randomInt(6)', 'randomBytes(6)', 'crypto.randomUUID()', 'randomFillSync(bytes)', 'getRandomValues(bytes)'],
  ])('are found in %s', (code) => expect(code).toMatch(GLOBALS));
});

describe('the compiler reports in domain and application', () => {
  const compile = (code: string) => {
    plant('tsconfig.json', JSON.stringify({ extends: join(ROOT, 'tsconfig.core.json'), include: ['planted.ts'] }));
    plant('planted.ts', code);
    return run('tsc', ['-p', '.']);
  };

  it.each([
    ['process', 'export const port = process.env.PORT;'],
    ['fetch', `export const answer = fetch('http://localhost');`],
    ['setTimeout', 'export const timer = setTimeout(() => undefined, 1);'],
    ['Buffer', `export const bytes = Buffer.from('');`],
    ['console', `console.log('');`],
  ])('%s', (name, code) => {
    const { ok, output } = compile(code);
    expect(ok).toBe(false);
    expect(output).toContain(`'${name}'`);
  });

  it('nothing about the language', () => {
    expect(compile('export const longest = Math.max(1, 2);')).toMatchObject({ ok: true });
  });
});
