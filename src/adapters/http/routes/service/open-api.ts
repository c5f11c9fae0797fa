import * as v from 'valibot';
import { cachedDocument } from '../../documents.ts';
import type { Site } from '../../pages/layout.ts';
import type { Route } from '../../routing/define-route.ts';
import { documentRoute } from '../../routing/document-route.ts';

/** Seconds. */
const MAX_AGE = 300;

const DocumentText = v.pipe(
  v.string(),
  v.metadata({
    jsonSchema: {
      type: 'object',
      description: 'An OpenAPI 3.1 document.',
      examples: [{ openapi: '3.1.1', info: { title: 'Tandem', version: '1.0.0' }, paths: {} }],
    },
  }),
);

/** Describes all routes, its own among them. ADR 0016. */
export const openApiRoutes = (routes: () => readonly Route[], site: Site): Route[] => [
  documentRoute(
    {
      name: 'open-api',
      tag: 'documents',
      summary: 'Return this document',
      path: '/openapi.json',
      data: DocumentText,
      unwrapped: { type: 'application/json', cacheControl: `public, max-age=${MAX_AGE}` },
    },
    cachedDocument(async () => {
      // Most processes never need it.
      const { openApiDocument } = await import('../../openapi/document.ts');
      return JSON.stringify(openApiDocument(routes(), site));
    }),
  ),
];
