import { SESSION_ENDINGS } from '../../../domain/event.ts';
import { isScope } from '../../../domain/operator.ts';
import { TEST_TYPE, WEBHOOK_TYPES } from '../../../domain/webhook.ts';
import type { Site } from '../pages/layout.ts';
import { REFRESH_COOKIE } from '../request/cookies.ts';
import { type Route, TAGS } from '../routing/define-route.ts';
import { REQUEST_ID_HEADER } from '../stages/arrival.ts';
import {
  type Components,
  collectComponents,
  EXAMPLE_ID,
  EXAMPLE_TIME,
  isJson,
  type Json,
  jsonSchemaOf,
  withExample,
} from './components.ts';
import { responsesOf } from './responses.ts';

/** The OpenAPI document: the routes, by their declarations, and the webhooks. */
export const openApiDocument = (routes: readonly Route[], site: Site, introduction = INTRODUCTION): Json => {
  const components = collectComponents();
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const template = templateOf(route);
    const operation = operationOf(route, site, components);
    paths[template] = { ...paths[template], [route.method.toLowerCase()]: operation };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tandem',
      version: site.version,
      description: introduction,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: site.baseUrl }],
    tags: Object.entries(TAGS)
      .filter(([name]) => routes.some(({ tag }) => tag === name))
      .map(([name, description]) => ({ name, description })),
    paths,
    webhooks: webhooksOf(components),
    components: components.all(),
  };
};

const INTRODUCTION = [
  'A dual-token authentication service: an access token in the response body, a refresh token in an HttpOnly cookie.',
  'Clients have to accept members that they do not know, and judge codes that they do not know by their status.',
  'Every `GET` can be sent as `HEAD`, but for those that change cookies. A path without a route gets 404, another method than those of a path 405.',
].join('\n\n');

/** The operation of a route: OpenAPI 3.1 §4.8.10. */
const operationOf = (route: Route, site: Site, components: Components): Json => ({
  operationId: camelCase(route.name),
  tags: [route.tag],
  summary: route.summary,
  ...(route.description !== undefined && { description: route.description }),
  'x-rate-limit': route.throttle,
  security: securityOf(route, components),
  parameters: parametersOf(route, components),
  ...(route.request.body !== undefined && { requestBody: bodyOf(route.request.body, components) }),
  responses: responsesOf(route, site, components),
});

/** `/auth/sessions/:id` → `/auth/sessions/{id}` */
export const templateOf = ({ path }: Pick<Route, 'path'>): string => path.replaceAll(/:(\w+)/g, '{$1}');

const camelCase = (name: string): string =>
  name.replaceAll(/-([a-z])/g, (_all, letter: string) => letter.toUpperCase());

const ACCESS_TOKEN_DESCRIPTION =
  'The access token. If it is bound to a key (the claim `cnf`), the scheme is `DPoP`, and the header `DPoP` has a proof (RFC 9449 §7.1).';

const SECURITY_SCHEMES = {
  accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: ACCESS_TOKEN_DESCRIPTION },
  assertion: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'An assertion (RFC 7523) by a key of ADMIN_KEYS, for one request: ES256, `kid` its thumbprint (RFC 7638), `iss` and `sub` its name, `aud` the URL of this server, `exp` at most a minute away.',
  },
  refreshToken: {
    type: 'apiKey',
    in: 'cookie',
    name: REFRESH_COOKIE,
    description:
      'The refresh token, in an HttpOnly cookie. Its name begins with JWT_REFRESH_COOKIE_PREFIX, if that is set.',
  },
};

/** Alternatives, one of which a request must satisfy (OpenAPI 3.1 §4.8.30). An empty alternative means that no token is needed. */
const securityOf = ({ auth, cookie }: Route, components: Components): Json[] => {
  if (isScope(auth)) {
    components.add('securitySchemes', 'assertion', SECURITY_SCHEMES.assertion);
    return [{ assertion: [auth] }];
  }
  const credentials = [
    { scheme: 'accessToken', requirement: auth === 'public' ? undefined : auth },
    { scheme: 'refreshToken', requirement: cookie.reads },
  ] as const;
  return credentials.reduce<Json[]>((alternatives, { scheme, requirement }) => {
    if (requirement === undefined) return alternatives;
    components.add('securitySchemes', scheme, SECURITY_SCHEMES[scheme]);
    const others = alternatives.length === 0 ? [{}] : alternatives;
    return [...(requirement === 'required' ? [] : others), ...others.map((each) => ({ ...each, [scheme]: [] }))];
  }, []);
};

const REQUEST_ID = {
  name: REQUEST_ID_HEADER,
  in: 'header',
  description: "The client's own request id, of 1 to 128 printable ASCII characters. Another one is replaced.",
  schema: { type: 'string' },
};

const parametersOf = ({ request: { params, query } }: Route, components: Components): Json[] => [
  ...(params === undefined ? [] : parametersIn(jsonSchemaOf(params, 'input', components), 'path', components)),
  ...parametersIn(jsonSchemaOf(query, 'input', components), 'query', components),
  components.addReference('parameters', 'RequestId', REQUEST_ID),
];

const parametersIn = ({ properties, required }: Json, place: 'path' | 'query', components: Components): Json[] =>
  Object.entries(isJson(properties) ? properties : {}).map(([name, schema]) => ({
    name,
    in: place,
    required: Array.isArray(required) && required.includes(name),
    ...withExample(schema as Json, components),
  }));

const bodyOf = (schema: NonNullable<Route['request']['body']>, components: Components): Json => ({
  required: true,
  content: { 'application/json': withExample(jsonSchemaOf(schema, 'input', components), components) },
});

const STRING = { type: 'string' };
const ID = { type: 'string', examples: [EXAMPLE_ID] };

/** Requests that receivers of webhooks get (OpenAPI 3.1 §4.8.1, `webhooks`). */
const webhooksOf = (components: Components): Json => {
  const header = (name: string, description: string) =>
    components.addReference('parameters', name, { name, in: 'header', required: true, description, schema: STRING });
  const response = (name: string, description: string) => components.addReference('responses', name, { description });
  const request = {
    security: [],
    parameters: [
      header('webhook-id', 'The same for all attempts: a receiver does nothing when it has seen it.'),
      header('webhook-timestamp', 'The time of the attempt, in seconds since 1970.'),
      header('webhook-signature', 'Signatures of Standard Webhooks 1.0, separated by spaces: `v1a,…` is Ed25519.'),
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: components.addReference('schemas', 'WebhookEvent', WEBHOOK_EVENT) } },
    },
    responses: {
      '2XX': response('WebhookTaken', 'The event was taken.'),
      '410': response('WebhookGone', 'The receiver is gone: the webhook is disabled.'),
      default: response(
        'WebhookRetried',
        'The event is sent again, for three days. `Retry-After` of 429 and 503 is heeded.',
      ),
    },
  };
  const operations = [...WEBHOOK_TYPES].map(([type, kinds]) => {
    const operationId = camelCase(`on-${type.replaceAll(/[._]/g, '-')}`);
    return [type, { post: { operationId, summary: `Told of ${kinds.join(', ')}`, ...request } }];
  });
  return Object.fromEntries(operations);
};

const WEBHOOK_EVENT: Json = {
  type: 'object',
  required: ['type', 'timestamp', 'sequence', 'data'],
  properties: {
    type: { enum: [...WEBHOOK_TYPES.keys(), TEST_TYPE] },
    timestamp: { type: 'string', format: 'date-time', description: 'When it happened.', examples: [EXAMPLE_TIME] },
    sequence: { type: 'integer', description: 'Later events of a user have greater ones.', examples: [7] },
    data: {
      type: 'object',
      properties: {
        userId: { ...ID, description: `Of every type but ${TEST_TYPE}.` },
        sessionId: { ...ID, description: 'Of a session, or of a remembered device.' },
        reason: { enum: [...SESSION_ENDINGS], description: 'Why it ended.' },
        webhookId: { ...ID, description: `Of ${TEST_TYPE} alone.` },
      },
    },
  },
};
