import { expect, it } from 'vitest';
import { provideDebianPackages } from '../support/servers/debian-package.ts';

it('a program that is installed is used, though nothing is left to unpack', async () => {
  expect(await provideDebianPackages('bin/sh', 'dash')).toEqual({ root: '/', libraries: [] });
});
