import { expect, it } from 'vitest';
import { readText } from '../support/checkout/repository.ts';

type Manifest = Readonly<Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>>;
const manifest = (path: string): Manifest => JSON.parse(readText(path));

it.each(['react', 'hono', 'sveltekit', 'oauth-server'])(
  'examples/%s names the versions that it is tested with, which the root has for its tests only',
  (example) => {
    const { dependencies, devDependencies } = manifest(`examples/${example}/package.json`);
    const { 'tandem-client': client, typescript, ...packages } = { ...dependencies, ...devDependencies };
    const root = manifest('package.json');
    expect(root.devDependencies).toMatchObject(packages);
    if (typescript !== undefined) expect(root.devDependencies['typescript-7']).toBe(`npm:typescript@${typescript}`);
    for (const name of Object.keys(packages)) expect(root.dependencies).not.toHaveProperty([name]);
    expect(client).toBe('file:../../client');
  },
);
