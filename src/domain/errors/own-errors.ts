import { CATALOG, type CatalogEntry, type CatalogRow, ENTRY_DEFAULTS, type ErrorCode } from './catalog.ts';

/** An error of an application, as one of its routes declares it. By default it is not retryable. */
export type OwnError = Pick<CatalogRow, 'status' | 'message' | 'description' | 'retryable'>;
export type OwnEntries = Readonly<Partial<Record<string, CatalogEntry>>>;

/** The errors of this project, and those that the routes of an application declare. */
export type Catalog = Readonly<Record<ErrorCode, CatalogEntry>>;

const CODE_FORM = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+){2,}$/;
const domainOf = (code: string): string => code.slice(0, code.indexOf('_'));
const CATALOG_DOMAINS: ReadonlySet<string> = new Set(Object.keys(CATALOG).map(domainOf));

/** @throws Error when the form or the domain of the code, or the status, is not allowed. */
export const ownEntry = (code: string, { status, message, description, retryable = false }: OwnError): CatalogEntry => {
  if (!CODE_FORM.test(code))
    throw new Error(
      `The error code ${code} does not have the form DOMAIN_NOUN_CONDITION, such as SHOP_ORDER_NOT_FOUND.`,
    );
  if (CATALOG_DOMAINS.has(domainOf(code))) throw new Error(`The error code ${code} is in a domain of Tandem's own.`);
  if (!Number.isInteger(status) || status < 400 || status > 599)
    throw new Error(`The error code ${code} needs a status from 400 to 599.`);
  const level = status < 500 ? 'info' : 'error';
  return Object.freeze({ ...ENTRY_DEFAULTS, status, message, description, retryable, level });
};

/** The catalog with the codes that routes declare. @throws Error when two routes declare one code differently. */
export const extendCatalog = (declared: readonly OwnEntries[]): Catalog => {
  const all: Record<string, CatalogEntry> = { ...CATALOG };
  for (const [code, entry] of declared.flatMap((each) => Object.entries(each))) {
    if (entry === undefined) continue;
    const other = all[code] ?? entry;
    if (JSON.stringify(other) !== JSON.stringify(entry)) throw new Error(`Two routes declare ${code} differently.`);
    all[code] = entry;
  }
  return Object.freeze(all) as Catalog;
};
