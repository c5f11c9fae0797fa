import { isDeepStrictEqual } from 'node:util';
import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema';
import type { GenericSchema } from 'valibot';
import { typedCode, typedName } from '../../../domain/text.ts';
import { typedAccount } from '../../json/fields.ts';

/** Types of Valibot's actions that call a function, so that no JSON Schema follows from them. */
const WITHOUT_JSON_SCHEMA = new Set(['raw_check', 'transform']);
/** Functions that only normalize a text. They need no description: the schema describes the normalized text. */
const NORMALIZATIONS = new Set<unknown>([typedAccount, typedCode, typedName]);
/** Marks a function without a description. Metadata `jsonSchema`, which follows the function in its pipe, replaces the mark. */
const UNDESCRIBED = 'undescribed';

/**
 * The JSON Schema (draft 2020-12) of what a client sends (`input`) or receives (`output`). A schema with a title becomes a component.
 * @throws Error for instance for a check or a transformation by a function that no metadata `jsonSchema` describes
 */
export const jsonSchemaOf = (schema: GenericSchema, typeMode: 'input' | 'output', components: Components): Json => {
  const { $schema: _dialect, ...converted } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode,
    overrideAction,
  });
  return extract(converted, components) as Json;
};

const overrideAction: NonNullable<ConversionConfig['overrideAction']> = ({ valibotAction, jsonSchema }) => {
  if (valibotAction.type === 'trim' || NORMALIZATIONS.has(Reflect.get(valibotAction, 'operation'))) return jsonSchema;
  if (WITHOUT_JSON_SCHEMA.has(valibotAction.type)) return { ...jsonSchema, jsonSchema: UNDESCRIBED };
  return undefined;
};

const extract = (node: unknown, components: Components): unknown => {
  if (Array.isArray(node)) return node.map((item) => extract(item, components));
  if (!isJson(node)) return node;
  if (node.jsonSchema === UNDESCRIBED) throw new Error('a check or a transformation has no metadata jsonSchema');
  if (isJson(node.jsonSchema)) return node.jsonSchema;
  const { examples, ...schema } = node;
  const members = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, extract(value, components)]));
  const withExamples = examples === undefined ? members : { ...members, examples };
  return typeof node.title === 'string' ? components.addReference('schemas', node.title, withExamples) : withExamples;
};

export type Json = Readonly<Record<string, unknown>>;

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type ComponentKind = 'schemas' | 'responses' | 'headers' | 'parameters' | 'examples' | 'securitySchemes';

/** Collects the components of the document, to which its other parts refer (OpenAPI 3.1 §4.8.7). */
export const collectComponents = () => {
  const all: Partial<Record<ComponentKind, Record<string, Json>>> = {};
  const add = (kind: ComponentKind, name: string, component: Json): void => {
    all[kind] ??= {};
    const group = all[kind];
    if (!isDeepStrictEqual(group[name] ?? component, component)) throw new Error(`two ${kind} are called ${name}`);
    group[name] = component;
  };
  return {
    add,
    addReference: (kind: ComponentKind, name: string, component: Json): Json => {
      add(kind, name, component);
      return { $ref: `#/components/${kind}/${name}` };
    },
    /** The component that `node` refers to, or `node` itself if it is no reference. */
    resolve: (node: Json): Json => {
      const [, kind, name] = /^#\/components\/(\w+)\/(.+)$/.exec(String(node.$ref)) ?? [];
      return kind === undefined || name === undefined ? node : (all[kind as ComponentKind]?.[name] ?? {});
    },
    /** All components. Those of a kind are sorted by name, so that their order does not depend on that of the routes. */
    all: (): Json =>
      Object.fromEntries(Object.entries(all).map(([kind, group]) => [kind, Object.fromEntries(sortedByName(group))])),
  };
};

const sortedByName = (all: Readonly<Record<string, Json>>) => Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1));

export type Components = ReturnType<typeof collectComponents>;

export const EXAMPLE_TIME = '2026-11-21T23:03:48.228Z';
export const EXAMPLE_ID = '01M805M084GXA5E2JTR4FKH6WN';

/** The examples of members whose schemas have no example, by the names of the members. */
const EXAMPLES: Json = {
  ...{
    id: EXAMPLE_ID,
    userId: EXAMPLE_ID,
    username: 'ada',
    email: 'ada@example.org',
    attributes: { roles: ['admin'] },
  },
  ...{ account: 'ada@example.org', password: 'correct horse', newPassword: 'battery staple', locale: 'de-AT' },
  ...{ currentPassword: 'correct horse', token: 'Zk3cO4nJ1xqk0m7h5v8s2r6t9w1y3u5i7o9p2a4d6fg' },
  ...{ assertion: 'eyJ0eXAiOiJhZG9wdGlvbitqd3QiLCJhbGciOiJFUzI1NiJ9…', secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' },
  ...{ code: 'AUTH_USER_DUPLICATE', statusCode: 409, message: 'This username or email is already registered.' },
  ...{ description: 'The username or the email belongs to a registered user.', count: 1, left: 10, recoveryCodes: 10 },
  ...{ type: 'https://auth.example.org/errors/AUTH_USER_DUPLICATE', checks: { database: 'up' }, version: '1.0.0' },
  ...{ name: 'Key ring', displayName: 'ada', credentialId: 'kXcRVNQPbXQGmWYbzXTbwA', transports: ['usb'], passkeys: 1 },
  ...{ aaguid: '00000000-0000-0000-0000-000000000000', rpId: 'example.org', hints: ['client-device', 'hybrid'] },
  ...{ challenge: 'Li5taXZqNWUuMDFNODA1TTBEUVJOQjdQS1NSRVM3MEs1TUIu', timeout: 300_000, alg: -7 },
  ...{ clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIiwiY2hhbGxlbmdlIjoi4oCmIn0', signature: 'MEUCIQCy' },
  ...{ attestationObject: 'o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YQ', authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4' },
  ...{ allAcceptedCredentialIds: ['kXcRVNQPbXQGmWYbzXTbwA'], qr: '<svg xmlns="http://www.w3.org/2000/svg">…</svg>' },
  uri: 'otpauth://totp/auth.example.org:ada?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=auth.example.org&algorithm=SHA1&digits=6&period=30',
  ...{ provider: 'google', subject: '110169484474386276334', url: 'https://accounts.google.com/o/oauth2/v2/auth?…' },
  ...{ to: 'https://app.example.org/notes', verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk' },
  ...{ session_identifier: '01M8669SHX7K33XCV405KNN3B0.mx4cyr98.8_tV….tSeR…', refresh_url: '/auth/device' },
  ...{ domain: 'auth.example.org', path: '/auth/refresh-token', allowed_refresh_initiators: ['app.example.org'] },
  ...{ issuer: 'https://auth.example.org', jwks_uri: 'https://auth.example.org/.well-known/jwks.json' },
  ...{ response_types_supported: [], grant_types_supported: [], origins: ['https://app.example.org'] },
  ...{ kid: 'z8c7cSrn_bKq03W-Tt4CT6oY5wQo10ImAJnGBadGuU4', x: 'DrL7nta67I7zOmfkO8fnX1y8A3sYjpX7RDx_v-0NhSo' },
  ...{ y: 'k9Lm4j9U3pBLKL8uFR4z6stF_rFJjvxHG7MJbPMv-X4', origin: 'https://auth.example.org' },
  ...{ enroll: 'https://app.example.org/settings/passkeys', manage: 'https://app.example.org/settings/passkeys' },
  ...{ documentation: 'https://auth.example.org/docs', openapi: 'https://auth.example.org/openapi.json' },
  ...{ errors: 'https://auth.example.org/errors', keys: 'https://auth.example.org/.well-known/jwks.json' },
  ...{ client: 'https://auth.example.org/client.js' },
};

/** An example for a JSON Schema: its own, or one that follows from the schema or from the name of its member (`EXAMPLES`); `undefined`: there is none. */
export const exampleOf = (schema: Json, components: Components, name = ''): unknown => {
  const { examples, type, enum: values, properties, required, items, anyOf, ...rest } = components.resolve(schema);
  if (Array.isArray(examples)) return examples[0];
  if ('const' in rest) return rest.const;
  if (Array.isArray(values)) return values[0];
  if (type === 'null') return null;
  if (type === 'boolean') return false;
  if (rest.format === 'date-time') return EXAMPLE_TIME;
  if (isJson(items))
    return Array.isArray(EXAMPLES[name]) ? EXAMPLES[name] : exampleList(exampleOf(items, components, name));
  if (isJson(properties)) return exampleObject(properties, required, components);
  return Array.isArray(anyOf)
    ? anyOf.map((each) => exampleOf(each, components, name)).find((each) => each !== undefined)
    : EXAMPLES[name];
};

const exampleList = (item: unknown): unknown => (item === undefined ? undefined : [item]);

const exampleObject = (properties: Json, required: unknown, components: Components): unknown => {
  const needed = Object.entries(properties).filter(([name]) => Array.isArray(required) && required.includes(name));
  const members = needed.map(([name, schema]) => [name, exampleOf(schema as Json, components, name)]);
  return members.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(members);
};

/** The members `schema` and `example` of a media type or a parameter in OpenAPI. */
export const withExample = (schema: Json, components: Components): Json => {
  const example = exampleOf(schema, components);
  return { schema, ...(example !== undefined && { example }) };
};
