// Proves SPEC 6.3, 6.4, 19.2, 20.1, 20.2, 20.22
import { describe, expect, it } from 'vitest';
import { CATALOG } from '../../../src/domain/errors/catalog.ts';

/** SPEC "Catalog": code, HTTP status, retryable. SPEC leaves open whether AUTH_FAILED is retryable. */
const SPECIFIED = [
  ['CLIENT_PARAMS_VALIDATION_FAILED', 400, false],
  ['AUTH_CREDENTIALS_INVALID', 401, false],
  ['AUTH_TOKEN_INVALID', 401, false],
  ['AUTH_TOKEN_MISSING', 401, false],
  ['AUTH_FAILED', 401, false],
  ['DB_RECORD_NOT_FOUND', 404, false],
  ['EXCEPTION_CATALOG_CODE_NOT_FOUND', 404, false],
  ['AUTH_USER_DUPLICATE', 409, false],
  ['DB_UNIQUE_VIOLATION', 409, false],
  ['CLIENT_REQUEST_RATE_LIMIT_EXCEEDED', 429, true],
  ['DB_QUERY_FAILED', 500, true],
  ['SYS_HTTP_UNEXPECTED_ERROR', 500, false],
  ['SYS_SERIALIZATION_ERROR', 500, false],
  ['SYS_UNEXPECTED_ERROR', 500, false],
] as const;

/** Codes of what SPEC does not have, of the form that it gives: code, HTTP status. None is retryable. */
const FURTHER = [
  ['AUTH_ACCOUNT_DISABLED', 403],
  ['AUTH_ASSERTION_INVALID', 401],
  ['AUTH_DEVICE_UNPROVEN', 401],
  ['AUTH_EMAIL_UNVERIFIED', 403],
  ['AUTH_IDENTITY_CONFLICT', 409],
  ['AUTH_IDENTITY_UNPROVEN', 401],
  ['AUTH_LINK_INVALID', 400],
  ['AUTH_PAGE_SERVER_UNKNOWN', 401],
  ['AUTH_PASSKEY_INVALID', 401],
  ['AUTH_PROOF_EXPIRED', 401],
  ['AUTH_REGISTRATION_CLOSED', 403],
  ['AUTH_REGISTRATION_REFUSED', 403],
  ['AUTH_SECOND_FACTOR_REQUIRED', 401],
  ['AUTH_CODE_INVALID', 401],
  ['AUTH_SECOND_FACTOR_INVALID', 401],
  ['AUTH_STEP_UP_REQUIRED', 401],
] as const;

/** The same, of a cause that is temporary. */
const FURTHER_RETRYABLE = [
  ['SYS_HOOK_UNAVAILABLE', 503],
  ['SYS_PROVIDER_UNAVAILABLE', 503],
] as const;

/** SPEC "Exception mapping". */
const LEVELS = [
  ['CLIENT_PARAMS_VALIDATION_FAILED', 'info'],
  ['SYS_SERIALIZATION_ERROR', 'error'],
  ['CLIENT_REQUEST_RATE_LIMIT_EXCEEDED', 'warn'],
  ['SYS_UNEXPECTED_ERROR', 'fatal'],
] as const;

/** SPEC "Errors": `{DOMAIN}_{NOUN}_{CONDITION}`, of which noun and condition may have several words. */
const FORM = /^(CLIENT|AUTH|DB|EXCEPTION|SYS)(_[A-Z]+){2,}$/;

describe('the catalog of errors', () => {
  it('has codes of one form, except AUTH_FAILED, which SPEC defines without a noun', () => {
    expect(Object.keys(CATALOG).filter((code) => !FORM.test(code))).toEqual(['AUTH_FAILED']);
  });

  it.each(SPECIFIED)('has %s with status %i and retryable %s', (code, status, retryable) => {
    expect(CATALOG[code]).toMatchObject({ status, retryable });
  });

  it('has no other code, except for what the specification does not have', () => {
    const known = [...SPECIFIED, ...FURTHER, ...FURTHER_RETRYABLE].map(([code]) => code);
    expect(Object.keys(CATALOG).sort()).toEqual(known.sort());
    for (const [code, status] of FURTHER)
      expect(CATALOG[code]).toMatchObject({ status, retryable: false, level: 'info' });
    for (const [code, status] of FURTHER_RETRYABLE)
      expect(CATALOG[code]).toMatchObject({ status, retryable: true, level: 'error' });
  });

  it.each(LEVELS)('logs %s at %s', (code, level) => {
    expect(CATALOG[code].level).toBe(level);
  });

  it('publishes every code but AUTH_FAILED', () => {
    const hidden = Object.entries(CATALOG).filter(([, { published }]) => !published);
    expect(hidden.map(([code]) => code)).toEqual(['AUTH_FAILED']);
  });

  it('has a message and a description for every code', () => {
    for (const [code, { message, description }] of Object.entries(CATALOG)) {
      expect(message, code).toMatch(/^[A-Z].*\.$/);
      expect(description, code).toMatch(/^[A-Z].*\.$/);
    }
  });

  it('cannot be changed', () => {
    expect(Object.isFrozen(CATALOG)).toBe(true);
  });
});
