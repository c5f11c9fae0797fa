import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { storageOver } from '../../src/adapters/records/storage.ts';
import { COMMANDS } from '../../src/infrastructure/commands/run.ts';
import { parseConfig } from '../../src/infrastructure/config.ts';
import { newFactorKey, newPair, privatePem, publicPem } from '../../src/infrastructure/keys.ts';
import { aSession, aUser, NOW } from '../support/builders.ts';
import { ROOT, readText } from '../support/checkout/repository.ts';
import { runHere } from '../support/processes/commands.ts';
import { openEmbedded } from '../support/storage/databases.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

/** The complete example of docs/configuration.md, as Node parses an environment file, with keys in place of the dots. */
const exampleForProduction = (): Record<string, string> => {
  const [, text = ''] = /```ini\n([\s\S]*?)```/.exec(readText('docs/configuration.md')) ?? [];
  const lines = text.trim().split('\n');
  const env = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  env.FACTOR_KEYS = newFactorKey();
  for (const kind of ['ACCESS', 'REFRESH']) {
    const { privateKey, publicKeys } = newPair();
    env[`JWT_${kind}_PRIVATE_KEY`] = privatePem(privateKey);
    env[`JWT_${kind}_PUBLIC_KEY`] = publicPem(publicKeys);
  }
  return env;
};

it('the configuration for production in docs/configuration.md is accepted, without a warning', () => {
  const config = parseConfig(exampleForProduction());
  expect(config).toMatchObject({ nodeEnv: 'production', databaseWarnings: [], warnings: [] });
});

it('the statement of docs/databases.md for a restore ends the sessions of all users', async () => {
  const { em, records } = await openEmbedded();
  const { users, sessions } = storageOver(records);
  const user = aUser();
  await users.add(user);
  await sessions.add(aSession({ userId: user.id, createdAt: NOW, rotatedAt: NOW, expiresAt: NOW + 1 }));
  const statements = [...readText('docs/databases.md').matchAll(/--command=["'](delete from sessions\b.*)["']$/gm)];
  const [, statement = ''] = statements[0] ?? [];
  await em.execute(statement);
  expect(await sessions.listByUser(user.id, NOW)).toEqual([]);
});

/** In front of a block, what it does not say itself. The block takes the place of the line `CODE`, or comes last. */
const EXAMPLES = /(?:^<!-- compiled with\n([\s\S]*?)\n-->\n\n)?^```(ts|js)\n([\s\S]*?)^```$/gm;
/** What blocks of JavaScript use, and say elsewhere on their page or leave to the reader. */
const IN_A_PAGE = {
  auth: "import('tandem-client').AuthClient",
  createAuthClient: "typeof import('tandem-client').createAuthClient",
  ...{ service: 'string', credentials: '{ account: string; password: string }' },
  ...{ document: 'any', showError: 'any', askForCode: 'any', askForPassword: 'any' },
};
const declaredAround = (code: string) =>
  Object.entries(IN_A_PAGE)
    .filter(([name]) => !new RegExp(`(?:const|import \\{) ${name}\\b`).test(code))
    .map(([name, type]) => `declare const ${name}: ${type};`)
    .join('\n');
const PAGES = globSync(['docs/**/*.md', 'README.md', 'client/README.md', 'examples/*/README.md'], { cwd: ROOT });
/** Need what is generated and installed: test/process/generated-clients.test.ts and packages.test.ts compile them. */
const COMPILED_ELSEWHERE = /openapi-fetch|next\/server|tandem-client\/testing/;

const { path } = temporaryDirectory();

describe('the TypeScript and the JavaScript of the documentation', () => {
  it('compiles, strictly, block by block', () => {
    const entries = ['index', 'account', 'passkeys', 'server', 'testing'];
    const ofClient = entries.flatMap((name) => {
      const file = [join(ROOT, `client/src/${name}.ts`)];
      const served = `http://localhost:3000/client-${name}.js`.replace('-index', '');
      return [
        [`tandem-client/${name}`.replace('/index', ''), file],
        [served, file],
      ];
    });
    const compilerOptions = {
      ...{ module: 'nodenext', target: 'es2024', strict: true, noEmit: true, types: ['node'] },
      ...{ exactOptionalPropertyTypes: true, skipLibCheck: true, allowImportingTsExtensions: true },
      paths: Object.fromEntries(ofClient),
    };
    mkdirSync(join(path, 'node_modules'));
    for (const name of ['@types', 'jose', 'standardwebhooks', 'valibot'])
      symlinkSync(join(ROOT, 'node_modules', name), join(path, 'node_modules', name));
    symlinkSync(ROOT, join(path, 'node_modules/tandem'));
    writeFileSync(join(path, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(path, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    const blocks = PAGES.filter((page) => !page.startsWith('examples')).flatMap((page) =>
      [...readText(page).matchAll(EXAMPLES)]
        .filter(([, , , code = '']) => !COMPILED_ELSEWHERE.test(code))
        .map(([, prelude = '', language, code = ''], at) => ({
          name: `${page.replaceAll(/\W/g, '-')}-${at}`,
          prelude: language === 'js' ? declaredAround(code) : prelude,
          code,
        })),
    );
    blocks.push(
      { name: 'exported', prelude: '', code: "export type { ChangeableFields, ComparableFields } from 'tandem';" },
      { name: 'wrong', prelude: '', code: 'const wrong: string = 1;' },
    );
    for (const { name, prelude, code } of blocks) {
      const [before, after = ''] = prelude.split(/^CODE$/m);
      writeFileSync(join(path, `${name}.ts`), `${before}\n${code}\n${after}\nexport {};\n`);
    }
    expect(blocks.length).toBeGreaterThan(30);
    const { stdout } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['--checkers', '1'], {
      cwd: path,
      encoding: 'utf8',
    });
    expect(stdout.match(/^.+\.ts\(.+$/gm)).toEqual([expect.stringMatching(/^wrong\.ts\b/)]);
  });
});

/** They need a device and packages of Expo, and Express. What they are examples of is run. */
const NOT_RUN = ['examples/react-native/README.md', 'examples/adoption/README.md'];

it('tests name each heading with a program, and run what is below it', () => {
  const tests = globSync('test/**/*.ts', { cwd: ROOT }).map(readText);
  for (const page of PAGES.filter((each) => !NOT_RUN.includes(each))) {
    const ofPage = tests.filter((text) => text.includes(`'${page}'`)).join('\n');
    const sections = readText(page).split(/^#+ (?=.*\n)/m);
    for (const section of sections.filter((text) => /^```(?:ts|js|tsx|vue|svelte|html)$/m.test(text)))
      expect(ofPage, page).toMatch(new RegExp(`(['"])${section.split('\n', 1)}\\1`));
  }
});

it('the commands of the documentation are accepted, each with its arguments and options', async () => {
  const names = Object.keys(COMMANDS).join('|');
  const line = new RegExp(`(?:^ *|\`)(?:npm run(?: -s)?|npx tandem) ((?:${names})\\b[^\`\\n|#]*)`, 'gm');
  const lines = PAGES.flatMap((page) =>
    [...readText(page).matchAll(line)].map(([, text = '']) => text.replace(' -- ', ' ')),
  );
  const script = [...new Set(lines)].map((text) => `printf '%s\\0' ${text}; echo`).join('\n');
  const said = spawnSync('sh', ['-c', script], { cwd: path, encoding: 'utf8' });
  const refused: string[] = [];
  for (const words of said.stdout.trim().split('\n')) {
    const [name = '', ...args] = words.split('\0').slice(0, -1);
    const { actions, notes = '' } = (await COMMANDS[name]?.()) ?? expect.unreachable(name);
    const accepted = Object.entries(actions).map(([of, each]) => [of, { ...each, run: async () => ({ text: '' }) }]);
    const command = { notes, actions: Object.fromEntries(accepted) };
    const { status, stderr } = await runHere([name, ...args], {}, { command });
    // The name alone is what the text is about.
    if (status !== 0 && args.length > 1) refused.push(`${name} ${args.join(' ')}: ${stderr}`);
  }
  expect(said.stderr).toBe('');
  expect(refused).toEqual([]);
});
