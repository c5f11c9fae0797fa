import * as v from 'valibot';
import { collectComponents, exampleOf, jsonSchemaOf } from '../../../src/adapters/http/openapi/components.ts';
import type { Route } from '../../../src/adapters/http/routing/define-route.ts';

/** For every field of a body, one of these texts matches the field's schema, or else the example in the OpenAPI document does. */
const CANDIDATES = ['Sample.name-1', 'sample@example.org', 'correct horse battery'];

type Fields = Readonly<Record<string, v.GenericSchema>>;

/** The schemas of the fields of a route's body, by name. A route without a body has none. */
export const bodyFields = ({ request: { body } }: Route): Fields =>
  // The schema of every body is an object schema, but the general type of a schema does not have its `entries`.
  body !== undefined && 'entries' in body ? (body.entries as Fields) : {};

/** The example in the OpenAPI document for a body, or for its field `name`. */
const exampleIn = (schema: v.GenericSchema, name?: string): unknown => {
  const components = collectComponents();
  return exampleOf(jsonSchemaOf(schema, 'input', components), components, name);
};

/** A body with the required fields of a route's schema, or the example of the OpenAPI document if all fields are optional. */
export const sampleBody = (route: Route): Record<string, unknown> => {
  const required = Object.entries(bodyFields(route)).filter(([, schema]) => !v.is(schema, undefined));
  const { body } = route.request;
  if (required.length === 0) return body === undefined ? {} : ((exampleIn(body) ?? {}) as Record<string, unknown>);
  return Object.fromEntries(
    required.map(([name, schema]) => {
      const fitting = [...CANDIDATES, exampleIn(schema, name)].find((candidate) => v.is(schema, candidate));
      if (fitting === undefined) throw new Error(`no sample fits ${route.name}: ${name}`);
      return [name, fitting];
    }),
  );
};

/** The path of a route, with `value` in place of each parameter. */
export const samplePath = ({ path }: Route, value = 'sample'): string => path.replaceAll(/:\w+/g, value);
