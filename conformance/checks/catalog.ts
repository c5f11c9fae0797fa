import type { Check } from '../check.ts';
import { dataOf, errorOf, hold, isObject, show } from '../expectations.ts';

/** SPEC "Catalog", without AUTH_FAILED. */
export const PUBLISHED: Readonly<Record<string, { readonly status: number; readonly retryable: boolean }>> = {
  CLIENT_PARAMS_VALIDATION_FAILED: { status: 400, retryable: false },
  AUTH_CREDENTIALS_INVALID: { status: 401, retryable: false },
  AUTH_TOKEN_INVALID: { status: 401, retryable: false },
  AUTH_TOKEN_MISSING: { status: 401, retryable: false },
  DB_RECORD_NOT_FOUND: { status: 404, retryable: false },
  EXCEPTION_CATALOG_CODE_NOT_FOUND: { status: 404, retryable: false },
  AUTH_USER_DUPLICATE: { status: 409, retryable: false },
  DB_UNIQUE_VIOLATION: { status: 409, retryable: false },
  CLIENT_REQUEST_RATE_LIMIT_EXCEEDED: { status: 429, retryable: true },
  DB_QUERY_FAILED: { status: 500, retryable: true },
  SYS_HTTP_UNEXPECTED_ERROR: { status: 500, retryable: false },
  SYS_SERIALIZATION_ERROR: { status: 500, retryable: false },
  SYS_UNEXPECTED_ERROR: { status: 500, retryable: false },
};

/** All texts of a value, names of members included, since the form of the payload is open. */
const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.entries(value).flatMap(([name, member]) => [name, ...textsIn(member)]) : [];
};

export const catalog: readonly Check[] = [
  {
    id: 'catalog-list',
    source: ['Endpoints', '| GET | `/errors` | | the list of all codes | |'],
    title: 'GET /errors lists every code',
    run: async ({ catalog }) => {
      const texts = new Set(textsIn(dataOf(await catalog())));
      const missing = Object.keys(PUBLISHED).filter((code) => !texts.has(code));
      hold(missing.length === 0, 'all codes of the catalog', `without ${show(missing)}`);
    },
  },
  {
    id: 'catalog-unpublished',
    source: ['Catalog', 'Not published: the catalog endpoints do not show it'],
    title: 'GET /errors does not list AUTH_FAILED',
    run: async ({ catalog }) => {
      hold(!textsIn(dataOf(await catalog())).includes('AUTH_FAILED'), 'no AUTH_FAILED', 'AUTH_FAILED in the list');
    },
  },
  {
    id: 'catalog-entry',
    source: ['Endpoints', '| GET | `/errors/:code` | path parameter `code` (string) | one code;'],
    title: 'GET /errors/:code returns every code',
    run: async ({ send }) => {
      for (const code of Object.keys(PUBLISHED)) {
        const data = dataOf(await send({ method: 'GET', path: `/errors/${code}` }));
        hold(textsIn(data).includes(code), `the entry of ${code}`, data);
      }
    },
  },
  {
    id: 'catalog-unknown-code',
    source: ['Endpoints', '`EXCEPTION_CATALOG_CODE_NOT_FOUND`, 404, if there is none such'],
    title: 'GET /errors/:code of an unknown code answers 404 EXCEPTION_CATALOG_CODE_NOT_FOUND',
    run: async ({ send }) => {
      errorOf(await send({ method: 'GET', path: '/errors/NO_SUCH_CODE' }), 404, 'EXCEPTION_CATALOG_CODE_NOT_FOUND');
    },
  },
];
