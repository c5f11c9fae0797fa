import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CONFIG_VARIABLES, parseConfig } from '../../src/infrastructure/config.ts';
import { readText } from '../support/checkout/repository.ts';
import { PRODUCTION } from '../support/processes/environments.ts';

type Container = {
  readonly environment?: Readonly<Record<string, string>>;
  readonly networks: readonly string[];
  readonly ports?: readonly string[];
};
type Compose = {
  readonly services: Readonly<Record<string, Container>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
};

/** Characters with a special meaning in a URL, in YAML or in a shell. */
const PASSWORD = 'p@:/%40#? "\'\\x';
const OF_REDIS = '0123abcd';
const SECRETS: Readonly<Record<string, string>> = {
  POSTGRES_PASSWORD: PASSWORD,
  PASSWORD_OF_REDIS: OF_REDIS,
  FACTOR_KEYS: 'A'.repeat(43),
};

const text = readText('compose.yaml');
const { services, networks }: Compose = parse(text, { merge: true });
const instances = Object.entries(services).filter(([name]) => name.startsWith('tandem'));

/** Interpolates `${NAME:-default}` and `${NAME:?message}` in a value after the YAML was parsed, as Compose does. */
const interpolated = (value: string): string =>
  value.replaceAll(/\$\{(\w+):([-?])([^}]*)\}/g, (_all, name: string, kind: string, rest: string) => {
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
      expect(config.environment).toBe('production');
      const warnings = [...config.databaseWarnings, ...config.warnings];
      expect(warnings).toEqual([expect.stringMatching(/^MAIL_URL is unset/)]);
      expect(environment.PGPASSWORD).toBe(PASSWORD);
      expect(config.redisUrls.map((url) => new URL(url).password)).toEqual([OF_REDIS]);
    },
  );

  it('has several instances, and uses only variables of the service', () => {
    expect(instances.length).toBeGreaterThan(1);
    const known = ['PGPASSWORD', ...CONFIG_VARIABLES.map(({ name }) => name)];
    const named = instances.flatMap(([, { environment = {} }]) => Object.keys(environment));
    const advised = [...text.matchAll(/^ +# ([A-Z_]+): /gm)].map(([, name = '']) => name);
    expect(advised).toContain('JWT_REFRESH_REPLAY_WINDOW');
    expect([...named, ...advised].filter((name) => !known.includes(name))).toEqual([]);
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

describe('the manifest for Kubernetes in docs/deploy.md', () => {
  const [, manifest = ''] = /```yaml\n([\s\S]*?)```/.exec(readText('docs/deploy.md')) ?? [];
  const { spec } = parse(manifest);
  const [container] = spec.template.spec.containers;

  it('sets variables of the service alone, and all that production requires', () => {
    const names: string[] = container.env.map(({ name }: { readonly name: string }) => name);
    const known = CONFIG_VARIABLES.flatMap(({ name }) => [name, `${name}_FILE`]);
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
    const given = names.map((name) => name.replace(/_FILE$/, ''));
    expect(given).toEqual(expect.arrayContaining(Object.keys(PRODUCTION).filter((name) => name.startsWith('JWT_'))));
  });

  it('gives the service the time that it takes to stop', () => {
    const { shutdownDelay, requestTimeout } = parseConfig({ ...PRODUCTION, SHUTDOWN_DELAY: '' });
    expect(spec.template.spec.terminationGracePeriodSeconds * 1000).toBeGreaterThan(shutdownDelay + requestTimeout);
  });
});
