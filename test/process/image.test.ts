// Proves ASVS 16.2.3
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { aPerson } from '../support/http/service.ts';
import { BUILD_ARGS, type Image, layOutImage } from '../support/image/lay-out.ts';
import { PRODUCTION } from '../support/processes/environments.ts';
import { type RunningService, runService } from '../support/processes/process.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

describe('the container image', () => {
  const app = temporaryDirectory();
  const data = temporaryDirectory();
  let image: Image;
  let service: RunningService | undefined;
  beforeAll(async () => {
    image = layOutImage(app.path);
  });

  const inside = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    spawnSync(process.execPath, args, {
      cwd: app.path,
      encoding: 'utf8',
      env: { ...image.env, DATA_DIR: data.path, ...env },
    });
  const filesOf = (path: string) =>
    readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((file) => !file.startsWith('node_modules'));

  it('has every module and package that some module of the service imports', () => {
    const modules = filesOf(join(app.path, 'src')).filter((file) => file.endsWith('.ts'));
    expect(modules).toContain('index.ts');
    const program = `for (const file of ${JSON.stringify(modules)}) await import('./src/' + file)`;
    expect(inside(['--input-type=module', '--eval', program])).toMatchObject({ stderr: '', status: 0 });
  });

  it('has no TypeScript compiler: npm would install one of that name as an optional peer of valibot', () => {
    const packages = readdirSync(join(app.path, 'node_modules'));
    expect(packages).toContain('valibot');
    expect(packages.filter((name) => name.includes('typescript'))).toEqual([]);
  });

  it('has every command', () => {
    const [program = '', ...args] = image.command;
    expect(program).toBe('node');
    const { status, stderr } = inside([...args, 'unknown']);
    const commands = /The commands are ([^.]*)\./.exec(stderr)?.[1]?.split(', ') ?? [];
    expect(status).toBe(2);
    expect(commands).toContain('migrate');
    for (const name of commands) {
      const help = inside([...args, name, '--help'], PRODUCTION);
      expect(help, name).toMatchObject({ stderr: '', stdout: expect.stringMatching(/./), status: 0 });
    }
  });

  it('starts a service that sends everything it has, stays healthy, and writes nothing but its data', async () => {
    const [, main] = image.command;
    const before = filesOf(app.path);
    const env = { ...image.env, ...PRODUCTION, DATA_DIR: data.path, PORT: '0' };
    const cached = { NODE_COMPILE_CACHE: join(app.path, 'node_modules/.cache/tandem/compile') };
    service = await runService({ ...env, ...cached }, ['bash', '-c', 'cd "$0"; exec "$@"', app.path], main);
    const { url, stop } = service;
    const live = JSON.parse(await (await fetch(`${url}/health/live`)).text());
    expect(live.data.revision).toBe(BUILD_ARGS.REVISION);
    const { paths } = JSON.parse(await (await fetch(`${url}/openapi.json`)).text());
    const plain = Object.keys(paths).filter((path) => 'get' in paths[path] && !path.includes('{'));
    expect(plain).toContain('/health/ready');
    for (const path of plain) {
      const { status } = await fetch(`${url}${path}`, { headers: { Accept: 'text/html' } });
      expect([200, 401], path).toContain(status);
    }
    const registered = await fetch(`${url}/auth/register`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(aPerson()),
    });
    expect(registered.status).toBe(201);
    const health = () => inside(image.healthCheck.slice(1), { PORT: new URL(url).port }).status;
    expect(health()).toBe(0);
    expect(await stop()).toEqual({ code: 0, signal: null });
    expect(health()).toBe(1);
    expect(filesOf(app.path)).toEqual(before);
  });
});
