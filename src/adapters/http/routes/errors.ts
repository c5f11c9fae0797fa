import * as v from 'valibot';
import { describeError, listErrors, type PublishedError } from '../../../application/use-cases/browse-catalog.ts';
import { errorUri } from '../envelope.ts';
import { type Route, route } from '../routing/define-route.ts';
import { ErrorCodeParams } from '../routing/schemas.ts';

const CatalogEntry = v.object({
  code: v.string(),
  statusCode: v.number(),
  retryable: v.boolean(),
  message: v.string(),
  description: v.string(),
  type: v.string(),
});

/** The routes of the error catalog. */
export const errorRoutes = (baseUrl: string): Route[] => {
  const entryOf = ({ status, ...entry }: PublishedError): v.InferInput<typeof CatalogEntry> => ({
    ...entry,
    statusCode: status,
    type: errorUri(baseUrl, entry.code),
  });
  return [
    route(
      {
        name: 'errors',
        method: 'GET',
        path: '/errors',
        auth: 'public',
        throttle: 'public',
        response: { data: v.array(CatalogEntry) },
      },
      () => listErrors().map(entryOf),
    ),
    route(
      {
        name: 'error',
        method: 'GET',
        path: '/errors/:code',
        auth: 'public',
        throttle: 'public',
        request: { params: ErrorCodeParams },
        response: { data: CatalogEntry },
        errors: ['EXCEPTION_CATALOG_CODE_NOT_FOUND'],
      },
      ({ params }) => entryOf(describeError(params.code)),
    ),
  ];
};
