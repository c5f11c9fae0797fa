import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Finding } from '../../src/infrastructure/commands/doctor/examine.ts';
import { problemsOf } from '../support/config-problems.ts';
import { testKeyPair, testKeys } from '../support/keys.ts';
import { documentedHttp } from '../support/openapi/documented-http.ts';
import { runHere } from '../support/processes/commands.ts';
import { keyVariables, PRODUCTION } from '../support/processes/environments.ts';
import { runService, spawnService } from '../support/processes/process.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

type Env = Readonly<Record<string, string>>;

const directory = temporaryDirectory();
const newDirectory = (name: string): string => {
  const path = join(directory.path, name);
  mkdirSync(path);
  return path;
};

/** `npm run doctor -- …` without npm, in a directory. */
const doctorIn = async (cwd: string, args: readonly string[], env: Env = {}) => {
  const { outcome, stdout, stderr } = spawnService(env, ['bash', '-c', 'cd "$0"; exec "$@"', cwd], undefined, [
    'doctor',
    ...args,
  ]);
  const { code: status } = await outcome;
  return { status, stdout: stdout.join('\n'), stderr: stderr.join('\n') };
};
/** The same in this process. */
const doctor = (args: readonly string[], env: Env) => runHere(['doctor', ...args], { DATA_DIR: '/nowhere', ...env });

type Report = { readonly counts: Record<string, number>; readonly findings: readonly Finding[] };
const findingsIn = ({ stdout }: { readonly stdout: string }) => (JSON.parse(stdout) as Report).findings;
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
  it('reports on a new installation, and creates nothing', async () => {
    const cwd = newDirectory('new');
    const { status, stdout, stderr } = await doctorIn(cwd, []);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Configuration\n {2}ok {7}The service accepts all variables\. \[configuration\.valid\]\n/);
    expect(stdout).toMatch(/\n0 problems, 0 warnings, \d+ notes\.$/);
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('ends with 2 when it could not run', async () => {
    const cwd = newDirectory('unreadable');
    mkdirSync(join(cwd, '.env'));
    expect(await doctorIn(cwd, [])).toMatchObject({ status: 2, stdout: '' });
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
    const expected = { 'redis.skipped': 'note', 'cookie.other-site': 'problem', 'database.unreachable': 'problem' };
    for (const [id, severity] of Object.entries(expected)) expect(severityOf(findings, id)).toBe(severity);
    expect(result.stdout).not.toContain('S3CRET');
  });

  it.each([[[]], [['--json']]])('prints no secret: %s', async (args) => {
    const keys = testKeys();
    const publicKeys = [...keys.access.publicKeys, ...testKeyPair().publicKeys];
    const env: Env = {
      ...PRODUCTION,
      ...keyVariables({ ...keys, access: { ...keys.access, publicKeys } }),
      DATABASE_URL: `postgresql://user:S3CRET-postgresql@${NOBODY}/tandem`,
      PGPASSWORD: 'S3CRET-pgpassword',
      REDIS_URL: `redis://:S3CRET-redis@${NOBODY}`,
    };
    const { status, stdout, stderr } = await doctor(args, env);
    expect([status, stderr]).toEqual([1, '']);
    for (const part of ['database.unreachable', 'redis.unreachable', 'Also accepted']) expect(stdout).toContain(part);
    expect(stdout).not.toMatch(/S3CRET|PRIVATE KEY/);
    const inner = env.JWT_ACCESS_PRIVATE_KEY?.split('\n')[1] ?? '';
    expect(inner.length).toBeGreaterThan(40);
    expect(stdout).not.toContain(inner);
  });

  it.each<[string, Env]>([
    ['development', {}],
    ['production', { ...PRODUCTION, DATABASE_URL: '' }],
  ])(
    'leaves alone the file of SQLite and the keys, of a service in %s that runs and of one that does not',
    async (environment, more) => {
      const dataDir = join(directory.path, environment);
      const env = { ...more, DATA_DIR: dataDir };
      const service = await runService(env);
      onTestFinished(() => void service.child.kill('SIGKILL'));
      const during = findingsIn(await doctor(['--json'], env));
      expect(severityOf(during, 'database.reachable')).toBe('ok');
      await documentedHttp(service.url).get('/health/ready').expect(200);
      await service.stop();

      const before = snapshot(dataDir);
      const after = findingsIn(await doctor(['--json'], env));
      expect(snapshot(dataDir)).toEqual(before);
      for (const id of ['database.reachable', 'keys.access', 'keys.refresh']) expect(severityOf(after, id)).toBe('ok');
    },
  );
});
