import { describe, expect, it, onTestFinished } from 'vitest';
import type { Finding } from '../../../src/infrastructure/commands/doctor/examine.ts';
import { documentedHttp } from '../../support/openapi/documented-http.ts';
import { runHere } from '../../support/processes/commands.ts';
import { PRODUCTION } from '../../support/processes/environments.ts';
import { runService } from '../../support/processes/process.ts';
import { canStartServers, postgresOfTheTests, startRedis } from '../../support/servers/of-the-tests.ts';
import { createDatabase } from '../../support/storage/databases.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

describe.runIf(canStartServers() && postgresOfTheTests() !== undefined)('the doctor beside a service', () => {
  it('finds no problem where there is none, and what has changed since', async () => {
    const directory = temporaryDirectory();
    onTestFinished(directory.remove);
    const database = await createDatabase(postgresOfTheTests() ?? '');
    onTestFinished(database.drop);
    const redis = await startRedis();
    onTestFinished(redis.stop);
    const env = {
      ...PRODUCTION,
      HOST: '127.0.0.1',
      BASE_URL: 'https://auth.example.com',
      ALLOWED_ORIGINS_PROD: 'https://app.example.com',
      TRUST_PROXY: '1',
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      DATA_DIR: directory.path,
    };
    const service = await runService(env);
    onTestFinished(async () => void (await service.stop('SIGKILL')));
    const examine = async () => {
      const { status, stdout } = await runHere(['doctor', '--json'], env);
      const { findings }: { readonly findings: readonly Finding[] } = JSON.parse(stdout);
      return { status, findings, problems: findings.filter(({ severity }) => severity === 'problem') };
    };

    const { status, findings, problems } = await examine();
    expect({ status, problems }).toEqual({ status: 0, problems: [] });
    const inOrder = findings.filter(({ severity }) => severity === 'ok').map(({ id }) => id);
    expect(inOrder).toEqual([
      ...['configuration.valid', 'keys.access', 'keys.refresh', 'cookie.same-site', 'device.browser-keys'],
      ...['database.reachable', 'database.migrations', 'database.clock', 'redis.reachable', 'templates.valid'],
      ...['pages.valid', 'secrets.none'],
    ]);
    await documentedHttp(service.url).get('/health/ready').expect(200);

    await redis.kill();
    const later = await examine();
    expect(later.findings).toContainEqual(expect.objectContaining({ id: 'redis.unreachable', severity: 'warning' }));
  });
});
