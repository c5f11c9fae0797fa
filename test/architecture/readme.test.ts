import { describe, expect, it } from 'vitest';
import { CATALOG } from '../../src/domain/errors/catalog.ts';
import { CONFIG_VARIABLES } from '../../src/infrastructure/config.ts';
import { readText, tableBelow } from '../support/checkout/repository.ts';
import { declaredRoutes } from '../support/http/service.ts';

const readme = readText('README.md');
const plain = (text: string) => text.replaceAll('`', '');

describe('the README', () => {
  it('lists the routes as they are declared', async () => {
    const routes = await declaredRoutes();
    expect(tableBelow(readme, 'Routes')).toEqual(
      routes.map(({ method, path, auth, throttle, response }) => [
        method,
        path,
        auth,
        throttle,
        String(response.status),
      ]),
    );
  });

  it('lists the errors as the catalog has them', () => {
    const rows = Object.entries(CATALOG).map(([code, { status, retryable, description }]) => [
      code,
      String(status),
      retryable ? 'yes' : 'no',
      plain(description),
    ]);
    expect(tableBelow(readme, 'Errors')).toEqual(rows.sort(([a = ''], [b = '']) => (a < b ? -1 : 1)));
  });

  it('lists the variables of the configuration as it reads them', () => {
    expect(tableBelow(readme, 'Configuration')).toEqual(
      CONFIG_VARIABLES.map(({ name, default: byDefault, meaning }) => [name, plain(byDefault), plain(meaning)]),
    );
  });

  it('names commands that exist', () => {
    const { scripts } = JSON.parse(readText('package.json')) as { readonly scripts: Record<string, string> };
    const named = [...readme.matchAll(/npm (?:run )?(start|test|dev|format|bench|check)\b/g)].map(
      ([, name = '']) => name,
    );
    expect(named.length).toBeGreaterThan(0);
    for (const name of named) expect(Object.keys(scripts)).toContain(name);
  });

  it('links to files that exist', () => {
    for (const [, target = ''] of readme.matchAll(/\]\(([^)#]+)\)/g)) expect(readText(target)).not.toBe('');
  });
});
