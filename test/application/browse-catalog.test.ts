// Proves SPEC 11.12
import { describe, expect, it } from 'vitest';
import { describeError, listErrors } from '../../src/application/browse-catalog.ts';
import { CATALOG } from '../../src/domain/errors/catalog.ts';

const NOT_FOUND = { code: 'EXCEPTION_CATALOG_CODE_NOT_FOUND', status: 404 };
const codes = () => listErrors(CATALOG).map(({ code }) => code);

describe('listErrors', () => {
  it('lists every code but AUTH_FAILED, sorted', () => {
    const expected = Object.keys(CATALOG).filter((code) => code !== 'AUTH_FAILED');
    expect(codes()).toEqual(expected.sort());
    expect(expected).toHaveLength(31);
  });

  it('returns the public fields of the catalog, without internal ones', () => {
    const { status, retryable, message, description } = CATALOG.DB_QUERY_FAILED;
    const entry = listErrors(CATALOG).find(({ code }) => code === 'DB_QUERY_FAILED');
    expect(entry).toEqual({ code: 'DB_QUERY_FAILED', status, retryable, message, description });
  });
});

describe('describeError', () => {
  it('returns the same entry as the list, for every code', () => {
    for (const entry of listErrors(CATALOG)) expect(describeError(CATALOG, entry.code, 'program')).toEqual(entry);
  });

  it('explains an error that is not published to a person only', () => {
    expect(describeError(CATALOG, 'AUTH_FAILED', 'person')).toMatchObject({ code: 'AUTH_FAILED', status: 401 });
    expect(() => describeError(CATALOG, 'toString', 'person')).toThrow(expect.objectContaining(NOT_FOUND));
  });

  it.each(['AUTH_FAILED', 'NO_SUCH_CODE', 'auth_token_invalid', '', 'toString', '__proto__'])('rejects %j', (code) => {
    expect(() => describeError(CATALOG, code, 'program')).toThrow(expect.objectContaining(NOT_FOUND));
  });
});
