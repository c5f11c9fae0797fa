import { expect, it } from 'vitest';
import { readText } from '../support/checkout/repository.ts';

type Manifest = Readonly<Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>>;
const manifest = (path: string): Manifest => JSON.parse(readText(path));

it('examples/react names the versions that it is tested with, which the root has for its tests only', () => {
  const { dependencies, devDependencies } = manifest('examples/react/package.json');
  const { 'tandem-client': client, typescript, ...packages } = { ...dependencies, ...devDependencies };
  const root = manifest('package.json');
  expect(root.devDependencies).toMatchObject({ ...packages, 'typescript-7': `npm:typescript@${typescript}` });
  expect(Object.keys(root.dependencies)).not.toContain('react');
  expect(client).toBe('file:../../client');
});
