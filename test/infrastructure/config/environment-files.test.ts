import { expect, it } from 'vitest';
import { readConfig } from '../../../src/infrastructure/config.ts';
import { DEVELOPMENT, PRODUCTION } from '../../support/processes/environments.ts';

/** As `docker run --env-file` passes on a line of `NAME="value"`. */
const quoted = (env: Readonly<Record<string, string>>, quote: string) =>
  Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, `${quote}${value.replaceAll('\n', '\\n')}${quote}`]),
  );

it.each(['"', "'"])('values in %s are read as those without', (quote) => {
  const { config, problems } = readConfig(quoted({ ...PRODUCTION, BASE_URL: 'https://auth.example.com' }, quote));
  const unquoted = readConfig({ ...PRODUCTION, BASE_URL: 'https://auth.example.com' });
  expect(problems).toEqual([]);
  expect(config.baseUrl).toBe('https://auth.example.com');
  expect(config.keys?.access.privateKey.equals(unquoted.config.keys?.access.privateKey ?? expect.unreachable())).toBe(
    true,
  );
});

it('quotes that do not enclose a value belong to it', () => {
  const { config } = readConfig({ ...DEVELOPMENT, BRAND_NAME: `"A" and 'B'x` });
  expect(config.brand.name).toBe(`"A" and 'B'x`);
});

it('a name that begins with a byte order mark is refused: its line would be ignored', () => {
  expect(readConfig({ ...DEVELOPMENT, '\uFEFFLOG_LEVEL': 'debug' }).problems).toEqual([
    'LOG_LEVEL: the file that sets it must not begin with a byte order mark',
  ]);
});
