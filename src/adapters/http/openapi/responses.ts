import { STATUS_CODES } from 'node:http';
import { CATALOG, type ErrorCode } from '../../../domain/errors/catalog.ts';
import type { Site } from '../pages/layout.ts';
import type { Route } from '../routing/define-route.ts';
import { type Components, type Json, jsonSchemaOf } from './components.ts';
import { errorExample, errorSchema, successExample, successSchema } from './envelopes.ts';
import { exampleOf, withExample } from './examples.ts';
import { errorHeadersOf, hasETag, redirectHeadersOf, successHeadersOf } from './headers.ts';

/** The responses of a route by status: its success, and its errors, each with all codes of that status. */
export const responsesOf = (route: Route, site: Site, components: Components): Json => {
  const errors = [...codesByStatus(route)].map(([status, codes]) => [
    status,
    errorResponse(status, codes, route.errorPages !== false, site, components),
  ]);
  // Integers are in ascending order.
  return Object.fromEntries([...successes(route, site, components), ...errors]);
};

const successes = (route: Route, site: Site, components: Components): [number, Json][] => {
  const { status } = route.response;
  const headers = successHeadersOf(route, components);
  const content = {
    [mediaTypeOf(route)]: successContent(route, site, components),
    ...(route.response.page !== undefined && PAGE),
  };
  const success: [number, Json] = [status, { description: `${STATUS_CODES[status]}`, headers, content }];
  if (route.response.redirects) {
    const redirect = { description: `${STATUS_CODES[303]}`, headers: { ...headers, ...redirectHeadersOf(components) } };
    return [success, [303, redirect]];
  }
  return hasETag(route) ? [success, [304, { description: 'The client has the content.', headers }]] : [success];
};

/** For clients that prefer HTML to JSON. */
const PAGE = { 'text/html': { schema: { type: 'string' }, example: '<!doctype html>…' } };

/** Without its parameters. */
const mediaTypeOf = ({ response: { unwrapped } }: Route): string =>
  unwrapped === undefined ? 'application/json' : unwrapped.type.replace(/;.*/, '');

const successContent = ({ response }: Route, site: Site, components: Components): Json => {
  const data = jsonSchemaOf(response.data, 'output', components);
  if (response.unwrapped !== undefined) return withExample(data, components);
  const example = exampleOf(data, components);
  const schema = successSchema(data, components);
  return { schema, ...(example !== undefined && { example: successExample(example, site) }) };
};

/** The codes of a route's errors, by status. */
export const codesByStatus = ({ errors, httpStatuses }: Route): Map<number, ErrorCode[]> => {
  const pairs = [...errors].flatMap((code): [number, ErrorCode][] =>
    code === 'SYS_HTTP_UNEXPECTED_ERROR'
      ? [...httpStatuses].map((status) => [status, code])
      : [[CATALOG[code].status, code]],
  );
  const byStatus = new Map<number, ErrorCode[]>();
  for (const [status, code] of pairs) byStatus.set(status, [...(byStatus.get(status) ?? []), code].sort());
  return byStatus;
};

const errorResponse = (
  status: number,
  codes: readonly ErrorCode[],
  asPage: boolean,
  site: Site,
  components: Components,
): Json => {
  const schemas = codes.map((code) => errorSchema(code, components));
  const examples = codes.map((code) => [code, errorExample(code, status, site, components)]);
  // Many routes share it.
  const name = [status, ...codes, ...(asPage ? ['page'] : [])].join('.');
  return components.refer('responses', name, {
    description: `${STATUS_CODES[status]}: ${codes.map((code) => `\`${code}\``).join(', ')}`,
    headers: errorHeadersOf(status, codes, components),
    content: {
      'application/json': {
        schema: schemas.length === 1 ? schemas[0] : { oneOf: schemas },
        examples: Object.fromEntries(examples),
      },
      ...(asPage && PAGE),
    },
  });
};
