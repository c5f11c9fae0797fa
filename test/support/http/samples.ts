import * as v from 'valibot';
import { collectComponents, exampleOf, jsonSchemaOf } from '../../../src/adapters/http/openapi/components.ts';
import type { Route } from '../../../src/adapters/http/routing/define-route.ts';

/** For every field of the service, one of these texts matches its schema, or the example of its body has it. */
const CANDIDATES = ['Sample.name-1', 'sample@example.org', 'correct horse battery'];

type Fields = Readonly<Record<string, v.GenericSchema>>;

/** The fields of a route's body, by name; none for a route without a body. */
export const bodyFields = ({ request: { body } }: Route): Fields =>
  // The schemas of all bodies are objects, whose fields the general type of a schema does not have.
  body !== undefined && 'entries' in body ? (body.entries as Fields) : {};

/** The example that the OpenAPI document has of a body or of one of its fields. */
const exampleIn = (schema: v.GenericSchema, name?: string): unknown => {
  const components = collectComponents();
  return exampleOf(jsonSchemaOf(schema, 'input', components), components, name);
};

/** A body that matches a route's schema, generated from the schema, without its optional fields; the example if all are optional. */
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

/** A path of a route, with `value` for each of its parameters. */
export const samplePath = ({ path }: Route, value = 'sample'): string => path.replaceAll(/:\w+/g, value);
