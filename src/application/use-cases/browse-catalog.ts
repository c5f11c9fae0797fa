import { AppError } from '../../domain/errors/app-error.ts';
import { CATALOG, type CatalogEntry } from '../../domain/errors/catalog.ts';

/** A published entry of the catalog, with its code. */
export type PublishedError = Omit<CatalogEntry, 'published' | 'level'> & { readonly code: string };

const PUBLISHED: ReadonlyMap<string, PublishedError> = new Map(
  Object.entries(CATALOG)
    .filter(([, entry]) => entry.published)
    .map(([code, { status, retryable, message, description }]): [string, PublishedError] => [
      code,
      { code, status, retryable, message, description },
    ])
    .sort(([a], [b]) => (a < b ? -1 : 1)),
);

/** Every published error, sorted by code. SPEC `GET /errors`. */
export const listErrors = (): PublishedError[] => [...PUBLISHED.values()];

/**
 * One published error. SPEC `GET /errors/:code`.
 * @throws AppError EXCEPTION_CATALOG_CODE_NOT_FOUND
 */
export const describeError = (code: string): PublishedError => {
  const entry = PUBLISHED.get(code);
  if (entry === undefined) throw new AppError('EXCEPTION_CATALOG_CODE_NOT_FOUND');
  return entry;
};
