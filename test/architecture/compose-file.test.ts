import { generateKeyPairSync, KeyObject } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { PING_TIMEOUT } from '../../src/adapters/http/routes/service/health.ts';
import { VARIABLE_NAMES } from '../../src/infrastructure/config/variables.ts';
import { parseConfig } from '../../src/infrastructure/config.ts';
import { KEEP_ALIVE_TIMEOUT } from '../../src/infrastructure/http-server/server.ts';
import { readText } from '../support/checkout/repository.ts';
import { NO_WARNINGS, PRODUCTION } from '../support/processes/environments.ts';

type Container = {
  readonly environment?: Readonly<Record<string, string>>;
  readonly networks: readonly string[];
  readonly ports?: readonly string[];
  readonly command?: readonly string[];
  readonly mem_limit?: string;
  readonly logging?: { readonly options?: Readonly<Record<string, string>> };
};
type Compose = {
  readonly services: Readonly<Record<string, Container>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
  readonly configs: Readonly<Record<string, { readonly content: string }>>;
};

/** Characters with a special meaning in a URL, in YAML or in a shell. */
const PASSWORD = 'p@:/%40#? "\'\\x';
const OF_REDIS = '0123abcd';
const SECRETS: Readonly<Record<string, string>> = {
  POSTGRES_PASSWORD: PASSWORD,
  PASSWORD_OF_REDIS: OF_REDIS,
  JWT_ISSUER: 'https://auth.example.com',
  JWT_AUDIENCE: 'https://api.example.com',
  LEAKED_PASSWORDS_URL: 'https://leaked.example.com/range',
  FACTOR_KEYS: 'A'.repeat(43),
  HOOK_PRIVATE_KEY: generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
};

/** What requirements of ASVS need, and is not the default. */
const ADVISED = {
  ...{ passwordHash: 'argon2id', leakedPasswordsUrl: expect.any(String), hookPrivateKey: expect.any(KeyObject) },
  ...{ jwtIssuer: expect.any(String), jwtAudience: expect.any(String) },
};

const text = readText('compose.yaml');
const { services, networks, configs }: Compose = parse(text, { merge: true });
const instances = Object.entries(services).filter(([name]) => name.startsWith('tandem'));

/** Interpolates `${NAME:-default}`, `${NAME:?message}` and `${NAME?message}` in a value after the YAML was parsed, as Compose does. */
const interpolated = (value: string): string =>
  // Of `+`: the variable is not set.
  value
    .replaceAll(/\$\{\w+:\+[^}]*\}/g, '')
    .replaceAll(/\$\{(\w+):?([-?])([^}]*)\}/g, (_all, name: string, kind: string, rest: string) => {
      const secret = SECRETS[name];
      if (secret === undefined && kind === '?') throw new Error(`${name} is not among the secrets of this test`);
      return secret ?? rest;
    });
const environmentOf = ({ environment = {} }: Container): Record<string, string> =>
  Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, interpolated(value)]));

describe('compose.yaml', () => {
  it.each(instances)(
    'starts %s in production with only its keys set, and with no warning but that there is no mail',
    (_name, container) => {
      const environment = { ...PRODUCTION, ...SECRETS, ...environmentOf(container) };
      const config = parseConfig(environment);
      expect(config.nodeEnv).toBe('production');
      const warnings = [...config.databaseWarnings, ...config.warnings];
      expect(warnings).toEqual([expect.stringMatching(/^MAIL_URL is unset/)]);
      expect(environment.PGPASSWORD).toBe(PASSWORD);
      expect(config).toMatchObject(ADVISED);
      const required = ['JWT_ISSUER', 'JWT_AUDIENCE', 'LEAKED_PASSWORDS_URL', 'HOOK_PRIVATE_KEY'];
      expect(Object.keys(environmentOf(container))).toEqual(expect.arrayContaining(required));
      expect(config.redisUrl?.map((url) => new URL(url).password)).toEqual([OF_REDIS]);
    },
  );

  it('has several instances, and uses only variables of the service', () => {
    expect(instances.length).toBeGreaterThan(1);
    const known = ['PGPASSWORD', ...VARIABLE_NAMES];
    const named = instances.flatMap(([, { environment = {} }]) => Object.keys(environment));
    const advised = [...text.matchAll(/^ +# ([A-Z_]+): /gm)].map(([, name = '']) => name);
    expect(advised).toContain('JWT_REFRESH_REPLAY_WINDOW');
    expect([...named, ...advised].filter((name) => !known.includes(name))).toEqual([]);
  });

  it('bounds the log of every container', () => {
    for (const [name, { logging }] of Object.entries(services))
      expect(logging?.options, name).toEqual({ 'max-size': expect.any(String), 'max-file': expect.any(String) });
  });

  it('bounds the memory of every container, and of Redis within its own', () => {
    for (const [name, { mem_limit: limit }] of Object.entries(services)) expect(limit, name).toMatch(/^\d+[mg]$/);
    for (const [, container] of instances) expect(container.mem_limit).toBe('768m');
    const within = services.redis?.command?.[services.redis.command.indexOf('--maxmemory') + 1];
    expect(Number.parseInt(within ?? '', 10)).toBeLessThan(Number.parseInt(services.redis?.mem_limit ?? '', 10));
  });

  it('lets only the instances reach the stores, and publishes only the proxy', () => {
    const { proxy, postgres, redis } = services;
    const published = Object.keys(services).filter((name) => services[name]?.ports !== undefined);
    expect(published).toEqual(['proxy']);
    const stores = [...(postgres?.networks ?? []), ...(redis?.networks ?? [])];
    expect(stores.length).toBeGreaterThan(1);
    expect(stores.filter((name) => networks[name]?.internal !== true)).toEqual([]);
    expect(proxy?.networks.filter((name) => stores.includes(name))).toEqual([]);
  });
});

describe('a proxy of the documentation', () => {
  const seconds = (pattern: RegExp, within: string) => Number(pattern.exec(within)?.[1]);

  it.each([
    ['Caddy', () => seconds(/keepalive (\d+)s/, configs.proxy?.content ?? '')],
    // 60 s unless `keepalive_timeout` of the upstream says otherwise.
    ['nginx', () => seconds(/keepalive_timeout (\d+)s/, readText('docs/proxies/nginx.conf')) || 60],
  ])('%s closes idle connections to the service before the service does', (_proxy, idle) => {
    expect(idle()).toBeGreaterThan(0);
    expect(idle() * 1000).toBeLessThan(KEEP_ALIVE_TIMEOUT);
  });

  it.each([
    ['Caddy', () => seconds(/health_timeout (\d+)s/, configs.proxy?.content ?? '')],
    ['HAProxy', () => seconds(/timeout check (\d+)s/, readText('docs/proxies/haproxy.cfg'))],
    ['Kubernetes', () => seconds(/\/health\/ready.*timeoutSeconds: (\d+)/, readText('kubernetes.yaml'))],
  ])('%s waits for the answer of a service whose database does not respond', (_proxy, timeout) => {
    expect(timeout() * 1000).toBeGreaterThan(PING_TIMEOUT.required);
  });
});

describe('kubernetes.yaml', () => {
  const objects = parseAllDocuments(readText('kubernetes.yaml')).map((document) => document.toJS());
  const { spec } = objects.find(({ kind }) => kind === 'Deployment');
  const [container] = spec.template.spec.containers;
  type Setting = { readonly name: string; readonly value: string };
  const settings: readonly Setting[] = container.env;

  it('sets variables of the service alone, and all that production requires', () => {
    const names = settings.map(({ name }) => name);
    const known = VARIABLE_NAMES.flatMap((name) => [name, `${name}_FILE`]);
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
    const given = names.map((name) => name.replace(/_FILE$/, ''));
    expect(given).toEqual(expect.arrayContaining(Object.keys(PRODUCTION).filter((name) => name.startsWith('JWT_'))));
  });

  it('starts without a problem or a warning, with its secrets', () => {
    const ofFiles: Readonly<Record<string, string>> = { ...SECRETS, ...NO_WARNINGS };
    const given = settings.map(({ name, value }) => {
      const secret = name.replace(/_FILE$/, '');
      return secret === name ? [name, value] : [secret, ofFiles[secret] ?? expect.unreachable(name)];
    });
    const config = parseConfig({ NODE_ENV: 'production', ...Object.fromEntries(given) });
    expect(config).toMatchObject({ ...ADVISED, newDeviceCode: 'on' });
    expect([...config.warnings, ...config.databaseWarnings]).toEqual([]);
    const ports = container.ports.map(({ containerPort }: { readonly containerPort: number }) => containerPort);
    expect(ports).toEqual([config.port, config.metrics?.port]);
    expect(container.resources).toMatchObject({ requests: { memory: '256Mi' }, limits: { memory: '768Mi' } });
  });

  it('leads requests to the pods, and keeps one of them', () => {
    const labels = spec.template.metadata.labels;
    const selecting = objects.filter(({ kind }) => kind !== 'Deployment');
    expect(selecting.map(({ kind }) => kind)).toEqual(['Service', 'Service', 'PodDisruptionBudget']);
    for (const { spec: other } of selecting) expect(other.selector.matchLabels ?? other.selector).toEqual(labels);
    const named = container.ports.map(({ name }: { readonly name: string }) => name);
    expect(
      selecting.flatMap(({ spec: { ports = [] } }) =>
        ports.map(({ targetPort }: { targetPort: string }) => targetPort),
      ),
    ).toEqual(named);
    expect(spec.replicas).toBeGreaterThan(selecting.at(-1).spec.maxUnavailable);
  });

  // https://kubernetes.io/docs/concepts/security/pod-security-standards/
  it('fits the Pod Security Standard `restricted`', () => {
    const pod = spec.template.spec;
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(pod.securityContext.runAsUser).toBeGreaterThan(0);
    expect(pod.containers).toHaveLength(1);
    expect(container.securityContext).toEqual({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    });
    const kinds = pod.volumes.flatMap((volume: object) => Object.keys(volume).filter((key) => key !== 'name'));
    expect(kinds).toEqual(['secret', 'emptyDir']);
    expect(JSON.stringify(pod)).not.toMatch(/"(?:host\w+|initContainers|ephemeralContainers|sysctls|procMount)"/);
  });

  it('takes no variables from other Services, needs no account, and spreads its pods over nodes', () => {
    const { enableServiceLinks, automountServiceAccountToken, topologySpreadConstraints } = spec.template.spec;
    expect({ enableServiceLinks, automountServiceAccountToken }).toEqual({
      enableServiceLinks: false,
      automountServiceAccountToken: false,
    });
    expect(topologySpreadConstraints).toMatchObject([
      { topologyKey: 'kubernetes.io/hostname', labelSelector: spec.selector },
    ]);
  });

  it('gives the service the time that it takes to stop', () => {
    const { shutdownDelay, requestTimeoutMs } = parseConfig({ ...PRODUCTION, SHUTDOWN_DELAY: '' });
    expect(spec.template.spec.terminationGracePeriodSeconds * 1000).toBeGreaterThan(shutdownDelay + requestTimeoutMs);
  });
});
