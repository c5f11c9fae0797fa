import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Finding } from '../../src/infrastructure/commands/doctor/finding.ts';
import { runDoctor } from '../../src/infrastructure/commands/doctor.ts';
import { ROOT } from '../support/checkout/repository.ts';
import { problemsOf } from '../support/config-problems.ts';
import { testKeyPair, testKeys } from '../support/keys.ts';
import { documentedHttp } from '../support/openapi/documented-http.ts';
import { COMPILE_CACHE } from '../support/processes/compile-cache.ts';
import { keyVariables, PRODUCTION } from '../support/processes/environments.ts';
import { runService } from '../support/processes/process.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

type Env = Readonly<Record<string, string>>;

const directory = temporaryDirectory();
const before = process.cwd();
beforeAll(() => process.chdir(directory.path));
afterAll(() => {
  process.chdir(before);
  directory.remove();
});
const newDirectory = (name: string): string => {
  const path = join(directory.path, name);
  mkdirSync(path);
  return path;
};

/** `npm run doctor -- …` without npm, in a process of its own. */
const spawnDoctor = (
  args: readonly string[],
  env: Env,
  cwd = directory.path,
  nodeArguments: readonly string[] = [],
) => {
  const command = [...nodeArguments, `${ROOT}src/infrastructure/main.js`, 'doctor', ...args];
  const options = { cwd, env: { ...COMPILE_CACHE, ...env }, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, command, options);
  return { status, stdout, stderr };
};

/** The same in this process, whose working directory is the one above. */
const doctor = async (args: readonly string[], env: Env) => {
  const { status, output, errors } = await runDoctor(args, env);
  return { status, stdout: output, stderr: errors };
};
type Report = { readonly counts: Record<string, number>; readonly findings: readonly Finding[] };
const findingsIn = ({ stdout }: { readonly stdout: string }): readonly Finding[] =>
  (JSON.parse(stdout) as Report).findings;
const severityOf = (findings: readonly Finding[], id: string) =>
  findings.find((finding) => finding.id === id)?.severity;

/** Every entry below a directory, with the time of its last change. */
const snapshot = (path: string): string[] =>
  readdirSync(path, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => `${name} ${statSync(join(path, name)).mtimeMs}`);

/** Nothing listens there. */
const NOBODY = '127.0.0.1:1';

describe('the doctor', () => {
  it('reports on a new installation, and creates nothing', () => {
    const cwd = newDirectory('new');
    const { status, stdout, stderr } = spawnDoctor([], {}, cwd);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Configuration\n {2}ok {7}The service accepts all variables\. \[configuration\.valid\]\n/);
    expect(stdout).toMatch(/\n0 problems, 0 warnings, \d+ notes\.\n$/);
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('reports to a program with --json: what is not ok has advice', async () => {
    const result = await doctor(['--json'], {});
    const { counts, findings }: Report = JSON.parse(result.stdout);
    expect(result).toMatchObject({ status: 0, stderr: '' });
    for (const { id, severity, seen, advice } of findings) {
      expect(id).toMatch(/^[a-z-]+\.[\w.-]+$/);
      expect(seen).not.toBe('');
      expect(advice === null).toBe(severity === 'ok');
    }
    expect(Object.values(counts).reduce((sum, count) => sum + count)).toBe(findings.length);
  });

  it.each([[['--fix']], [['now']]])('does not run with unknown arguments: %s', async (args) => {
    const { status, stdout, stderr } = await doctor(args, {});
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain('npx tandem doctor');
  });

  it('explains itself', async () => {
    expect(await doctor(['--help'], { PORT: 'none' })).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('Exit status'),
    });
  });

  it('could not run without its environment file', () => {
    const cwd = newDirectory('unreadable');
    mkdirSync(join(cwd, '.env'));
    expect(spawnDoctor([], {}, cwd)).toMatchObject({ status: 2, stdout: '' });
  });

  it('reports each invalid variable in the words of the start, and examines the rest', async () => {
    const env = {
      ...PRODUCTION,
      PORT: 'S3CRET-port',
      JWT_REFRESH_COOKIE_SECURE: 'false',
      REDIS_URL: `redis://:S3CRET-password@${NOBODY}/S3CRET`,
      BASE_URL: 'https://auth.example.com',
      ALLOWED_ORIGINS_PROD: 'https://app.example.org',
      DATABASE_URL: `postgresql://user:S3CRET-password@${NOBODY}/tandem`,
    };
    const result = await doctor(['--json'], env);
    const findings = findingsIn(result);
    expect([result.status, result.stderr]).toEqual([1, '']);
    const reported = findings.filter(({ id, severity }) => id.startsWith('configuration.') && severity === 'problem');
    expect(reported.map(({ seen }) => seen)).toEqual(problemsOf(env));
    expect(severityOf(findings, 'redis.skipped')).toBe('note');
    expect(severityOf(findings, 'cookie.other-site')).toBe('problem');
    expect(severityOf(findings, 'database.unreachable')).toBe('problem');
    expect(result.stdout).not.toContain('S3CRET');
  });

  it.each([[[]], [['--json']]])('prints no secret: %s', (args) => {
    const keys = testKeys();
    const env: Env = {
      ...PRODUCTION,
      ...keyVariables({
        ...keys,
        access: { ...keys.access, publicKeys: [...keys.access.publicKeys, ...testKeyPair().publicKeys] },
      }),
      DATABASE_URL: `postgresql://user:S3CRET-postgresql@${NOBODY}/tandem`,
      PGPASSWORD: 'S3CRET-pgpassword',
      REDIS_URL: `redis://:S3CRET-redis@${NOBODY}`,
    };
    const cwd = newDirectory(`secret${args.length}`);
    writeFileSync(join(cwd, '.env'), 'PGPASSWORD=S3CRET-file\n');
    const { status, stdout, stderr } = spawnDoctor(args, env, cwd);
    expect([status, stderr]).toEqual([1, '']);
    expect(stdout).toContain('database.unreachable');
    expect(stdout).toContain('redis.unreachable');
    expect(stdout).toContain('Also accepted');
    expect(stdout).not.toMatch(/S3CRET|PRIVATE KEY/);
    const inner = env.JWT_ACCESS_PRIVATE_KEY?.split('\n')[1] ?? '';
    expect(inner.length).toBeGreaterThan(40);
    expect(stdout).not.toContain(inner);
  });

  it('reports that others can read an environment file, also one of the command line', () => {
    const cwd = newDirectory('open');
    for (const path of [directory.path, cwd]) chmodSync(path, 0o755);
    const file = join(cwd, 'tandem.env');
    writeFileSync(file, 'REDIS_URL=redis://:S3CRET@127.0.0.1:1\n', { mode: 0o644 });
    chmodSync(file, 0o644);
    const result = spawnDoctor(['--json'], {}, cwd, [`--env-file=${file}`]);
    expect(findingsIn(result).find(({ id }) => id === 'secrets.everybody')?.seen).toContain(file);
    expect(result.status).toBe(1);
    expect(result.stdout).not.toContain('S3CRET');
  });

  it('leaves alone the file of SQLite and the keys, of a service that runs and of one that does not', async () => {
    const dataDir = join(directory.path, 'used');
    const service = await runService({ DATA_DIR: dataDir });
    onTestFinished(() => void service.child.kill('SIGKILL'));
    const during = findingsIn(await doctor(['--json'], { DATA_DIR: dataDir }));
    expect(severityOf(during, 'database.reachable')).toBe('ok');
    await documentedHttp(service.url).get('/health/ready').expect(200);
    await service.stop();

    const before = snapshot(dataDir);
    const after = findingsIn(await doctor(['--json'], { DATA_DIR: dataDir }));
    expect(snapshot(dataDir)).toEqual(before);
    expect(['database.reachable', 'keys.access', 'keys.refresh'].map((id) => severityOf(after, id))).toEqual([
      'ok',
      'ok',
      'ok',
    ]);
  });

  it('ends although no server answers', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    onTestFinished(() => void silent.close());
    // A server that listens on a port has no other kind of address.
    const { port } = silent.address() as AddressInfo;
    const env = {
      DATABASE_URL: `postgresql://user:S3CRET@127.0.0.1:${port}/tandem`,
      REDIS_URL: `redis://:S3CRET@127.0.0.1:${port}`,
    };
    const result = spawnDoctor(['--json'], env);
    expect([result.status, result.stderr]).toEqual([1, '']);
    const unreachable = findingsIn(result).filter(({ id }) => id.endsWith('.unreachable'));
    expect(unreachable.map(({ id, severity }) => [id, severity])).toEqual([
      ['database.unreachable', 'problem'],
      ['redis.unreachable', 'warning'],
    ]);
    expect(result.stdout).not.toContain('S3CRET');
  });

  it('names what is in the way, and examines the rest', async () => {
    const file = join(directory.path, 'file');
    writeFileSync(file, '');
    const result = await doctor(['--json'], { DATA_DIR: file });
    const failed = findingsIn(result).filter(({ severity }) => severity === 'problem');
    expect(failed.map(({ id }) => id)).toEqual(['keys.failed', 'database.failed']);
    for (const { seen } of failed) expect(seen).toContain(`'${file}/`);
    for (const { seen } of failed) expect(seen).toContain('ENOTDIR: not a directory');
    expect([result.status, severityOf(findingsIn(result), 'proxy.none')]).toEqual([1, 'ok']);
  });
});
