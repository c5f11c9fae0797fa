import { AppError } from '../domain/errors/app-error.ts';
import { CATALOG, type CatalogEntry, type ErrorCode } from '../domain/errors/catalog.ts';

export type PublishedError = Omit<CatalogEntry, 'published' | 'level'> & { readonly code: string };

const entryOf = (code: ErrorCode): PublishedError => {
  const { status, retryable, message, description } = CATALOG[code];
  return { code, status, retryable, message, description };
};

const isCode = (code: string): code is ErrorCode => Object.hasOwn(CATALOG, code);

/** Every published error, sorted by code. SPEC `GET /errors`. */
export const listErrors = (): PublishedError[] =>
  Object.keys(CATALOG)
    .filter(isCode)
    .filter((code) => CATALOG[code].published)
    .sort()
    .map(entryOf);

/**
 * One error. SPEC `GET /errors/:code`.
 * @param reader a person also gets an entry that is not published, since its URL is the `type` of error responses (ADR 0014).
 * @throws AppError EXCEPTION_CATALOG_CODE_NOT_FOUND
 */
export const describeError = (code: string, reader: 'person' | 'program'): PublishedError => {
  if (isCode(code) && (CATALOG[code].published || reader === 'person')) return entryOf(code);
  throw new AppError('EXCEPTION_CATALOG_CODE_NOT_FOUND');
};
