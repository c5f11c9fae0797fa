import * as v from 'valibot';
import type { Route } from '../../../src/adapters/http/routing/define-route.ts';

/** For every field of the service, one of these texts matches its schema, or the example of its body has it. */
const CANDIDATES = ['Sample.name-1', 'sample@example.org', 'correct horse battery'];

type Fields = Readonly<Record<string, v.GenericSchema>>;

/** The fields of a route's body, by name; none for a route without a body. */
export const bodyFields = ({ request: { body } }: Route): Fields =>
  // The schemas of all bodies are objects, whose fields the general type of a schema does not have.
  body !== undefined && 'entries' in body ? (body.entries as Fields) : {};

/** The example that the schema of a body has. */
const exampleOf = ({ request: { body } }: Route): Record<string, unknown> => {
  const [example = {}] = body === undefined ? [] : (v.getExamples(body) as readonly Record<string, unknown>[]);
  return example;
};

/** A body that matches a route's schema, generated from the schema, without its optional fields; the example if all are optional. */
export const sampleBody = (route: Route): Record<string, unknown> => {
  const required = Object.entries(bodyFields(route)).filter(([, schema]) => !v.is(schema, undefined));
  if (required.length === 0) return exampleOf(route);
  return Object.fromEntries(
    required.map(([name, schema]) => {
      const fitting = [...CANDIDATES, ...v.getExamples(schema), exampleOf(route)[name]].find((candidate) =>
        v.is(schema, candidate),
      );
      if (fitting === undefined) throw new Error(`no sample fits ${route.name}: ${name}`);
      return [name, fitting];
    }),
  );
};

/** A path of a route, with `value` for each of its parameters. */
export const samplePath = ({ path }: Route, value = 'sample'): string => path.replaceAll(/:\w+/g, value);
