import { AppError, FIELD_CODES } from '../../../domain/errors/app-error.ts';
import { CATALOG, type CatalogEntry, type ErrorCode } from '../../../domain/errors/catalog.ts';
import { httpFailure } from '../errors/exceptions.ts';
import { STATUS_CODES } from '../node-http.ts';
import type { Site } from '../pages/layout.ts';
import type { Route } from '../routing/define-route.ts';
import { errorEnvelopeOf } from '../stages/envelopes.ts';
import {
  type Components,
  EXAMPLE_ID,
  EXAMPLE_TIME,
  exampleOf,
  type Json,
  jsonSchemaOf,
  withExample,
} from './components.ts';
import { errorHeadersOf, hasETag, redirectHeadersOf, successHeadersOf } from './headers.ts';

/** The responses of a route by status. A response for an error status describes all error codes with this status. */
export const responsesOf = (route: Route, site: Site, components: Components): Json => {
  const errors = [...codesByStatus(route)].map(([status, codes]) => [
    status,
    errorResponse(status, codes, route, site, components),
  ]);
  return Object.fromEntries([...successes(route, site, components), ...errors]);
};

const successes = (route: Route, site: Site, components: Components): [number, Json][] => {
  const { status, otherStatus } = route.response;
  const headers = successHeadersOf(route, components);
  const mediaType = route.response.unwrapped?.type.replace(/;.*/, '') ?? 'application/json';
  const content = {
    [mediaType]: successContent(route, site, components),
    ...(route.response.page !== undefined && PAGE_CONTENT),
  };
  const responseOf = (code: number): Json => ({ description: `${STATUS_CODES[code]}`, headers, content });
  const success: [number, Json] = [status, responseOf(status)];
  if (otherStatus !== undefined) return [success, [otherStatus, responseOf(otherStatus)]];
  if (route.response.redirects) {
    const redirect = { description: `${STATUS_CODES[303]}`, headers: { ...headers, ...redirectHeadersOf(components) } };
    return [success, [303, redirect]];
  }
  return hasETag(route) ? [success, [304, { description: 'The client has the content.', headers }]] : [success];
};

/** The content of a page, in place of JSON. */
const PAGE_CONTENT = { 'text/html': { schema: { type: 'string' }, example: '<!doctype html>…' } };

const successContent = ({ response }: Route, site: Site, components: Components): Json => {
  const data = jsonSchemaOf(response.data, 'output', components);
  if (response.unwrapped !== undefined) return withExample(data, components);
  const example = exampleOf(data, components);
  const schema = successSchema(data, components);
  return { schema, ...(example !== undefined && { example: successExample(example, site) }) };
};

const entryOf = ({ ownErrors }: Route, code: ErrorCode): CatalogEntry => ownErrors[code] ?? CATALOG[code];

export const codesByStatus = (route: Route): Map<number, ErrorCode[]> => {
  const { errors, httpStatuses } = route;
  const pairs = [...errors].flatMap((code) => {
    const statuses = code === 'SYS_HTTP_UNEXPECTED_ERROR' ? [...httpStatuses] : [entryOf(route, code).status];
    return statuses.map((status) => ({ status, code }));
  });
  const byStatus = Map.groupBy(pairs, ({ status }) => status);
  return new Map([...byStatus].map(([status, group]) => [status, group.map(({ code }) => code).sort()]));
};

const errorResponse = (status: number, codes: ErrorCode[], route: Route, site: Site, components: Components): Json => {
  const hasPage = route.errorPages;
  const schemas = codes.map((code) => errorSchema(code, entryOf(route, code), components));
  const examples = codes.map((code) => [code, errorExample(code, status, entryOf(route, code), site, components)]);
  // A component, since many routes have the same codes.
  const name = [status, ...codes, ...(hasPage ? ['page'] : [])].join('.');
  return components.addReference('responses', name, {
    description: `${STATUS_CODES[status]}: ${codes.map((code) => `\`${code}\``).join(', ')}`,
    headers: errorHeadersOf(status, codes, components),
    content: {
      'application/json': {
        schema: schemas.length === 1 ? schemas[0] : { oneOf: schemas },
        examples: Object.fromEntries(examples),
      },
      ...(hasPage && PAGE_CONTENT),
    },
  });
};

const STRING = { type: 'string' };
const TIMESTAMP = { type: 'string', format: 'date-time', description: 'ISO 8601, UTC.' };

const objectOf = (properties: Json, optional: readonly string[] = []): Json => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
});

const CONTEXT = objectOf(
  {
    requestId: { ...STRING, description: 'The value of the header svc-request-id.' },
    version: { ...STRING, description: 'The version of the service.' },
    user: { ...objectOf({ id: STRING, username: STRING }), description: 'Present for an authenticated request.' },
    binding: { const: 'browser', description: 'Present if the browser holds the key of the session of the response.' },
    deviceKey: { const: true, description: 'Present if a page or an app holds that key.' },
  },
  ['user', 'binding', 'deviceKey'],
);

const contextSchema = (components: Components): Json => components.addReference('schemas', 'Context', CONTEXT);

const exampleContext = ({ version }: Site) => ({ requestId: EXAMPLE_ID, version });

/** SPEC "Success envelope". */
const successSchema = (data: Json, components: Components): Json =>
  objectOf({ success: { const: true }, data, timestamp: TIMESTAMP, context: contextSchema(components) });

export const successExample = (data: unknown, site: Site) => ({
  success: true,
  data,
  timestamp: EXAMPLE_TIME,
  context: exampleContext(site),
});

const FIELD_PROBLEM = {
  ...objectOf({ field: STRING, message: STRING, code: { ...STRING, enum: Object.keys(FIELD_CODES) } }),
  description: 'A problem with one field: its dotted path, a message for people, and a stable word for programs.',
};

/** The schema of the error envelope with one code (SPEC "Error envelope"). */
const errorSchema = (code: ErrorCode, { description }: CatalogEntry, components: Components): Json => {
  const details =
    code === 'CLIENT_PARAMS_VALIDATION_FAILED'
      ? { type: 'array', minItems: 1, items: components.addReference('schemas', 'FieldProblem', FIELD_PROBLEM) }
      : { type: 'null' };
  const envelope = objectOf({
    success: { const: false },
    code: { const: code },
    message: { ...STRING, description: 'For people; it may be reworded.' },
    type: { ...STRING, format: 'uri', description: 'The address of the code in the catalog.' },
    timestamp: TIMESTAMP,
    context: contextSchema(components),
    details,
  });
  return components.addReference('schemas', code, { ...envelope, description });
};

const errorExample = (code: ErrorCode, status: number, entry: CatalogEntry, site: Site, components: Components) => {
  const clock = { now: () => Date.parse(EXAMPLE_TIME) };
  const error = exampleErrorOf(code, status, entry);
  const value = errorEnvelopeOf(error, exampleContext(site), { baseUrl: site.baseUrl, clock });
  const isUsualStatus = status === entry.status;
  const summary = isUsualStatus ? entry.message : `${STATUS_CODES[status]}`;
  return components.addReference('examples', isUsualStatus ? code : `${code}_${status}`, { summary, value });
};

const exampleErrorOf = (code: ErrorCode, status: number, entry: CatalogEntry): AppError => {
  if (code === 'SYS_HTTP_UNEXPECTED_ERROR') return httpFailure(status);
  if (code !== 'CLIENT_PARAMS_VALIDATION_FAILED') return new AppError(code, {}, entry);
  return new AppError(code, { details: [{ field: 'username', message: 'is required', code: 'required' }] });
};
