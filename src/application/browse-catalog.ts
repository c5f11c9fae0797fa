import { AppError } from '../domain/errors/app-error.ts';
import type { CatalogEntry, ErrorCode } from '../domain/errors/catalog.ts';
import type { Catalog } from '../domain/errors/own-errors.ts';

export type PublishedError = Omit<CatalogEntry, 'published' | 'level'> & { readonly code: string };

const entryOf = (catalog: Catalog, code: ErrorCode): PublishedError => {
  const { status, retryable, message, description } = catalog[code];
  return { code, status, retryable, message, description };
};

const hasCode = (catalog: Catalog, code: string): code is ErrorCode => Object.hasOwn(catalog, code);

/** Every published error, sorted by code. SPEC `GET /errors`. */
export const listErrors = (catalog: Catalog): PublishedError[] =>
  (Object.keys(catalog) as ErrorCode[])
    .filter((code) => catalog[code].published)
    .sort()
    .map((code) => entryOf(catalog, code));

/**
 * One error. SPEC `GET /errors/:code`.
 * @param reader a person also gets an unpublished entry, since its URL is the `type` of error responses (ADR 0014).
 */
export const describeError = (catalog: Catalog, code: string, reader: 'person' | 'program'): PublishedError => {
  if (hasCode(catalog, code) && (catalog[code].published || reader === 'person')) return entryOf(catalog, code);
  throw new AppError('EXCEPTION_CATALOG_CODE_NOT_FOUND');
};
