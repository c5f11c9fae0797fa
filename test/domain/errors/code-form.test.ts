// Proves SPEC 6.3, 19.2
import { expect, it } from 'vitest';
import { CATALOG } from '../../../src/domain/errors/catalog.ts';

/** SPEC "Errors": `{DOMAIN}_{NOUN}_{CONDITION}`, of which noun and condition may have several words. */
const FORM = /^(CLIENT|AUTH|DB|EXCEPTION|SYS)(_[A-Z]+){2,}$/;

it('every code has the form DOMAIN_NOUN_CONDITION, except AUTH_FAILED, which SPEC defines without a noun', () => {
  expect(Object.keys(CATALOG).filter((code) => !FORM.test(code))).toEqual(['AUTH_FAILED']);
});
