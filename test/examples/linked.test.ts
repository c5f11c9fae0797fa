import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../support/checkout/repository.ts';
import { startExample } from '../support/processes/example.ts';
import { createDatabase, TEST_DATABASE_URL } from '../support/storage/databases.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

describe('a copy of the example in a repository of its own, with a link to this checkout', () => {
  const { path } = temporaryDirectory();
  const plant = (name: string, content: object): void => writeFileSync(join(path, name), JSON.stringify(content));
  beforeAll(() => {
    cpSync(join(ROOT, 'examples/own-store'), path, { recursive: true });
    mkdirSync(join(path, 'node_modules'));
    symlinkSync(ROOT, join(path, 'node_modules/tandem'));
    symlinkSync(join(ROOT, 'node_modules/pg'), join(path, 'node_modules/pg'));
    plant('package.json', { type: 'module' });
    const compilerOptions = {
      module: 'nodenext',
      noEmit: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      strict: true,
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules/@types')],
    };
    plant('tsconfig.json', { compilerOptions, include: ['*.ts'] });
    writeFileSync(join(path, 'contract.ts'), `import 'tandem/contracts';\n`);
  });

  it('compiles with the options that are documented', () => {
    const { stdout, status } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['--checkers', '1'], {
      cwd: path,
      encoding: 'utf8',
    });
    expect({ stdout, status }).toEqual({ stdout: '', status: 0 });
  });

  it.runIf(TEST_DATABASE_URL !== undefined)('starts', async () => {
    const { url } = await createDatabase(TEST_DATABASE_URL ?? '');
    const env = { SHOP_DATABASE_URL: url, DATA_DIR: join(path, 'data') };
    const { http, stop } = await startExample(env, join(path, 'main.ts'));
    await http.get('/health/ready').expect(200);
    expect(await stop('SIGTERM')).toEqual({ code: 0, signal: null });
  });
});
