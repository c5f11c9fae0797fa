import * as v from 'valibot';
import { describeError, listErrors, type PublishedError } from '../../../../application/browse-catalog.ts';
import type { Catalog } from '../../../../domain/errors/own-errors.ts';
import { CatalogEntry } from '../../../json/catalog.ts';
import { prefersHtml } from '../../documents.ts';
import type { Site } from '../../pages/layout.ts';
import { PUBLIC_READ, type Route, route } from '../../routing/define-route.ts';
import { errorUri } from '../../stages/envelopes.ts';

const ErrorCodeParams = v.object({ code: v.pipe(v.string(), v.examples(['AUTH_USER_DUPLICATE'])) });

/** @param catalog is called at each request, since the catalog is complete only after the declaration of all routes */
export const errorRoutes = (site: Site, catalog: () => Catalog): Route[] => {
  const entryOf = ({ status, ...entry }: PublishedError): v.InferInput<typeof CatalogEntry> => ({
    ...entry,
    statusCode: status,
    type: errorUri(site.baseUrl, entry.code),
  });
  return [
    route({
      name: 'errors',
      tag: 'errors',
      summary: 'List the published error codes',
      ...PUBLIC_READ,
      at: 'GET /errors',
      response: {
        data: v.array(CatalogEntry),
        page: async (entries) => (await import('../../pages/errors.ts')).errorListPage(site, entries),
      },
      handler: () => listErrors(catalog()).map(entryOf),
    }),
    route({
      name: 'error',
      tag: 'errors',
      summary: 'Return one published error code',
      ...PUBLIC_READ,
      at: 'GET /errors/:code',
      request: { params: ErrorCodeParams },
      response: {
        data: CatalogEntry,
        page: async (entry) => (await import('../../pages/errors.ts')).errorPage(site, entry),
      },
      errors: ['EXCEPTION_CATALOG_CODE_NOT_FOUND'],
      handler: ({ params }, ctx) =>
        entryOf(describeError(catalog(), params.code, prefersHtml(ctx) ? 'person' : 'program')),
    }),
  ];
};
