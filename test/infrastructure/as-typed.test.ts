import { describe, expect, it } from 'vitest';
import { asTyped } from '../../src/infrastructure/as-typed.ts';

describe('commands as people type them', () => {
  it('are those of npm in a checkout', () => {
    expect(asTyped('npm run users -- find USER')).toBe('npm run users -- find USER');
  });

  it.each([
    ['npm run users -- find USER', 'npx tandem users find USER'],
    ['Run `npm run migrate`.', 'Run `npx tandem migrate`.'],
    ['npm run -s doctor -- --json', 'npx tandem doctor --json'],
    ['npm start runs the service.', 'npx tandem runs the service.'],
    ['one object on standard output; with npm run -s', 'one object on standard output'],
  ])('are those of the program in an installed package: %s', (inCheckout, installed) => {
    expect(asTyped(inCheckout, true)).toBe(installed);
  });

  it('keep their columns', () => {
    const [first = '', second = ''] = asTyped(
      'npm run data -- move     moves\nnpm run doctor           examines',
      true,
    ).split('\n');
    expect(first.indexOf('moves')).toBe(second.indexOf('examines'));
  });
});
