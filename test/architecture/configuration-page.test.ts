import { describe, expect, it } from 'vitest';
import { CONFIG_VARIABLES, parseConfig } from '../../src/infrastructure/config.ts';
import { newFactorKey, newPair, privatePem, publicPem } from '../../src/infrastructure/keys/keys.ts';
import { readText } from '../support/checkout/repository.ts';

/** The complete example, as Node parses an environment file, with keys in place of the dots. */
const example = (): Record<string, string> => {
  const [, text = ''] = /```ini\n([\s\S]*?)```/.exec(readText('docs/configuration.md')) ?? [];
  const env = Object.fromEntries(
    text
      .trim()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  env.FACTOR_KEYS = newFactorKey();
  for (const kind of ['ACCESS', 'REFRESH']) {
    const { privateKey, publicKeys } = newPair();
    env[`JWT_${kind}_PRIVATE_KEY`] = privatePem(privateKey);
    env[`JWT_${kind}_PUBLIC_KEY`] = publicPem(publicKeys);
  }
  return env;
};

describe('the production example of docs/configuration.md', () => {
  it('is accepted, without a warning', () => {
    expect(parseConfig(example())).toMatchObject({ environment: 'production', databaseWarnings: [], warnings: [] });
  });

  it('uses existing variables', () => {
    const names = CONFIG_VARIABLES.map(({ name }) => name);
    for (const name of Object.keys(example())) expect(names).toContain(name);
  });
});
