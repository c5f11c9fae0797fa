import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../../src/infrastructure/config.ts';
import { clockFacts, clockFindings } from '../../../../src/infrastructure/doctor/checks/clock.ts';
import { configurationFindings } from '../../../../src/infrastructure/doctor/checks/configuration.ts';
import { embeddedFindings } from '../../../../src/infrastructure/doctor/checks/embedded.ts';
import { type KeyFileFacts, keyFileFindings, keyFindings } from '../../../../src/infrastructure/doctor/checks/keys.ts';
import {
  type PostgresqlFacts,
  type PostgresqlSettings,
  postgresqlFindings,
} from '../../../../src/infrastructure/doctor/checks/postgresql.ts';
import { type ProxyFacts, proxyFindings } from '../../../../src/infrastructure/doctor/checks/proxy.ts';
import { type RedisFacts, redisFindings } from '../../../../src/infrastructure/doctor/checks/redis.ts';
import { type SecretFacts, secretFindings } from '../../../../src/infrastructure/doctor/checks/secrets.ts';
import { type TimeOutFacts, timeOutFindings } from '../../../../src/infrastructure/doctor/checks/time-outs.ts';
import type { Finding } from '../../../../src/infrastructure/doctor/finding.ts';
import { NO_WARNINGS } from '../../../support/processes/environments.ts';

/** What is not in order: a line for each. */
const brief = (findings: readonly Finding[]) =>
  findings.filter(({ severity }) => severity !== 'ok').map(({ id, severity }) => `${severity} ${id}`);

describe('the doctor on the configuration', () => {
  it.each<[string, Readonly<Record<string, string>>, string[]]>([
    ['in order', {}, []],
    ['risky', { RATE_LIMIT_GLOBAL: 'off' }, ['warning configuration.RATE_LIMIT_GLOBAL']],
    ['risky at the database', { DATABASE_URL: '' }, ['warning configuration.DATABASE_URL']],
    ['misspelled', { JWT_ISUER: 'me' }, ['warning configuration.JWT_ISUER']],
    ['invalid, and not also unset', { BASE_URL: 'none' }, ['problem configuration.BASE_URL']],
    ['contradictory', { REDIS_PASSWORD: 'p' }, ['problem configuration.REDIS_PASSWORD']],
    ['without a key', { JWT_ACCESS_PRIVATE_KEY: '' }, ['problem configuration.JWT_ACCESS_PRIVATE_KEY']],
  ])('that is %s', (_what, changes, expected) => {
    expect(brief(configurationFindings(readConfig({ ...NO_WARNINGS, ...changes })))).toEqual(expected);
  });

  it('says how to make a key that is missing', () => {
    const [finding] = configurationFindings(readConfig({ ...NO_WARNINGS, JWT_ACCESS_PRIVATE_KEY: '' }));
    expect(finding?.advice).toContain('npm run keys -- generate');
  });
});

const CLOCK = { ahead: 0, uncertainty: 1 };

describe('the doctor on the proxy', () => {
  const usual: ProxyFacts = {
    environment: 'production',
    host: '127.0.0.1',
    baseUrl: 'https://auth.example.com',
    trustProxy: 1,
  };
  // Proves: operator-7
  it.each<[string, Partial<ProxyFacts>, string[]]>([
    ['a proxy that only can reach the service', {}, ['note proxy.hops']],
    ['a port that others may reach', { host: '0.0.0.0' }, ['note proxy.hops', 'note proxy.bypass']],
    ['no TLS in front', { baseUrl: 'http://localhost:3000' }, ['note proxy.hops', 'warning proxy.unlikely']],
    ['TLS in front, in development', { trustProxy: 0, environment: 'development' }, ['warning proxy.untrusted']],
    ['TLS in front, in production: the start warns', { trustProxy: 0 }, []],
    ['none', { trustProxy: 0, baseUrl: 'http://localhost:3000' }, []],
  ])('%s', (_what, changes, expected) => {
    expect(brief(proxyFindings({ ...usual, ...changes }))).toEqual(expected);
  });
});

describe('the doctor on time-outs', () => {
  it.each<[string, Partial<TimeOutFacts>, string[]]>([
    ['the defaults', {}, ['note time-outs.proxy']],
    ['the inner ones together as long as the outer one', { request: 8_000 }, ['note time-outs.proxy']],
    ['the inner ones longer', { request: 7_999 }, ['warning time-outs.order', 'note time-outs.proxy']],
    ['without PostgreSQL', { request: 1, database: null }, ['note time-outs.proxy']],
  ])('%s', (_what, changes, expected) => {
    const usual = { request: 30_000, keepAlive: 65_000, database: { connection: 3_000, statement: 5_000 } };
    expect(brief(timeOutFindings({ ...usual, ...changes }))).toEqual(expected);
  });
});

describe('the doctor on clocks', () => {
  it.each([
    [0, []],
    [1_000, []],
    [-1_200, []],
    [1_300, ['warning clock']],
    [-10_200, ['warning clock']],
    [-10_300, ['problem clock']],
    [10_300, ['problem clock']],
  ])('%d ms apart, plus or minus 200', (ahead, expected) => {
    expect(brief(clockFindings('clock', 'the database', { ahead, uncertainty: 200 }, 10_000))).toEqual(expected);
  });

  it('measures from the middle of the question', () => {
    expect(clockFacts(1_000, 6_100, 1_200)).toEqual({ ahead: 5_000, uncertainty: 100 });
  });

  it('says which clock is behind', () => {
    const [finding] = clockFindings('clock', 'the database', { ahead: 60_000, uncertainty: 0 }, 10_000);
    expect(finding?.seen).toMatch(/^The clock of this machine is 60 s behind that of the database/);
  });
});

describe('the doctor on the embedded database', () => {
  const usual = { exists: true, holder: null, migrateOnStart: true };
  it.each([
    ['in use', { holder: '123' }, ['note database.in-use']],
    ['with a lock that names nobody', { holder: '' }, ['problem database.lock']],
    ['with a lock of something else', { holder: 'secret' }, ['problem database.lock']],
    ['not created', { exists: false }, ['note database.missing']],
    ['not created, and never migrated', { exists: false, migrateOnStart: false }, ['problem database.missing']],
    ['closed', {}, ['note database.unopened']],
  ])('%s', (_what, changes, expected) => {
    const findings = embeddedFindings({ ...usual, ...changes });
    expect(brief(findings)).toEqual(expected);
    expect(JSON.stringify(findings)).not.toContain('secret');
  });
});

describe('the doctor on keys', () => {
  it('names the key that signs, and those that only verify', () => {
    const pair = { kind: 'access', kids: ['new', 'old'], lifetime: 900_000 } as const;
    const findings = keyFindings([pair]);
    expect(brief(findings)).toEqual(['note keys.access.earlier', 'note keys.age']);
    expect(findings[0]?.seen).toContain('signed with the key new');
    expect(findings[1]?.seen).toContain('whose access tokens are accepted: old.');
    expect(findings[1]?.advice).toContain('900 s after');
  });

  const file: KeyFileFacts = { kind: 'access', file: 'keys/access.pem', state: 'usable', kid: 'kid', age: 1_000 };
  it.each<[string, Partial<KeyFileFacts>, boolean, string[]]>([
    ['new', {}, false, []],
    ['old', { age: 366 * 86_400_000 }, false, ['note keys.age']],
    ['missing', { state: 'missing', kid: null, age: null }, false, ['note keys.access']],
    ['unusable', { state: 'unusable', kid: null, age: null }, false, ['problem keys.access']],
    ['shared', {}, true, ['problem keys.shared']],
  ])('a file that is %s', (_what, changes, shared, expected) => {
    expect(brief(keyFileFindings([{ ...file, ...changes }], shared))).toEqual(expected);
  });
});

describe('the doctor on files', () => {
  it.each<[SecretFacts['readers'], string[]]>([
    ['nobody', []],
    ['group', ['note secrets.group']],
    ['everybody', ['problem secrets.everybody']],
    ['unknown', ['note secrets.unseen']],
  ])('that %s can read', (readers, expected) => {
    expect(brief(secretFindings([{ path: '/etc/tandem.env', holds: 'secrets', readers }]))).toEqual(expected);
  });
});

describe('the doctor on PostgreSQL', () => {
  const facts: PostgresqlFacts = {
    version: '18.4',
    isReadOnly: false,
    isPooled: false,
    isSuperuser: false,
    mayCreate: true,
    isolation: 'read committed',
    statementTimeout: 0,
    idleSessionTimeout: 0,
    connections: 97,
    applied: ['1', '2'],
    clock: CLOCK,
  };
  const settings: PostgresqlSettings = {
    production: true,
    migrateOnStart: true,
    poolSize: 10,
    statementTimeout: 5_000,
    idleTimeout: 10_000,
    migrations: ['1', '2'],
  };
  it.each<[string, Partial<PostgresqlFacts>, Partial<PostgresqlSettings>, string[]]>([
    ['in order', {}, {}, []],
    ['read-only', { isReadOnly: true }, {}, ['problem database.read-only']],
    ['a superuser in production', { isSuperuser: true }, {}, ['warning database.superuser']],
    ['a superuser elsewhere', { isSuperuser: true }, { production: false }, ['note database.superuser']],
    ['another isolation level', { isolation: 'serializable' }, {}, ['warning database.isolation']],
    ['a pending migration', { applied: ['1'] }, {}, ['note database.migrations']],
    ['one that no start applies', { applied: [] }, { migrateOnStart: false }, ['problem database.migrations']],
    ['one that the role may not apply', { applied: [], mayCreate: false }, {}, ['problem database.migrations']],
    ['one of a newer version', { applied: ['1', '2', '3'] }, {}, ['warning database.newer']],
    ['connections for two instances', { connections: 22 }, {}, []],
    ['connections for one instance', { connections: 21 }, {}, ['warning database.connections']],
    ['connections for none', { connections: 10 }, {}, ['problem database.connections']],
    ['a pooler', { connections: 10, isPooled: true }, {}, ['note database.pooler']],
    ['a shorter statement time-out', { statementTimeout: 4_999 }, {}, ['note database.statement-time-out']],
    ['a longer statement time-out', { statementTimeout: 5_000 }, {}, []],
    ['a shorter idle time-out', { idleSessionTimeout: 10_000 }, {}, ['warning database.idle-time-out']],
    ['a longer idle time-out', { idleSessionTimeout: 10_001 }, {}, []],
  ])('%s', (_what, changes, others, expected) => {
    const findings = postgresqlFindings('db:5432', { ...facts, ...changes }, { ...settings, ...others });
    expect(brief(findings)).toEqual(expected);
  });
});

describe('the doctor on Redis', () => {
  const facts: RedisFacts = {
    address: 'redis:6379',
    version: '7.0.15',
    isReplica: false,
    clusterState: null,
    clock: CLOCK,
  };
  it.each<[string, Partial<RedisFacts>, string[]]>([
    ['is in order', {}, []],
    ['is a replica', { isReplica: true }, ['problem redis.replica']],
    ['misses a slot', { clusterState: 'fail' }, ['problem redis.cluster-state']],
    ['is whole', { clusterState: 'ok' }, []],
  ])('that %s', (_what, changes, expected) => {
    expect(brief(redisFindings({ ...facts, ...changes }))).toEqual(expected);
  });
});
