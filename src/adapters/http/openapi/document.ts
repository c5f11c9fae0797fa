import { type Route, TAGS } from '../routing/define-route.ts';
import { collectComponents, type Json } from './components.ts';
import type { DocumentSettings } from './envelopes.ts';
import { operationOf, templateOf } from './operation.ts';

/** The OpenAPI document of the routes, derived from their declarations alone. */
export const openApiDocument = (routes: readonly Route[], settings: DocumentSettings): Json => {
  const components = collectComponents();
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const template = templateOf(route);
    const operation = operationOf(route, settings, components);
    paths[template] = { ...paths[template], [route.method.toLowerCase()]: operation };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tandem',
      version: settings.version,
      description: INTRODUCTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: settings.baseUrl }],
    tags: Object.entries(TAGS)
      .filter(([name]) => routes.some(({ tag }) => tag === name))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: components.all(),
  };
};

const INTRODUCTION = [
  'A dual-token authentication service: an access token in the response body, a refresh token in an HttpOnly cookie.',
  'Clients have to accept members that they do not know, and judge codes that they do not know by their status.',
  'Every `GET` can be sent as `HEAD`. A path without a route gets 404, another method than those of a path 405.',
].join('\n\n');
