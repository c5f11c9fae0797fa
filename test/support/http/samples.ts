import * as v from 'valibot';
import type { Route } from '../../../src/adapters/http/routing/define-route.ts';

/** Texts of which one meets whatever schema of a field the service has. */
const CANDIDATES = ['Sample.name-1', 'sample@example.org', 'correct horse battery'];

type Fields = Readonly<Record<string, v.GenericSchema>>;

/** The fields of a route's body, by name; none for a route that reads no body. */
export const bodyFields = ({ request: { body } }: Route): Fields =>
  body !== undefined && 'entries' in body ? (body.entries as Fields) : {};

/** A body that meets a route's schema, made from the schema alone. */
export const sampleBody = (route: Route): Record<string, string> =>
  Object.fromEntries(
    Object.entries(bodyFields(route)).map(([name, schema]) => {
      const fitting = CANDIDATES.find((candidate) => v.is(schema, candidate));
      if (fitting === undefined) throw new Error(`no sample fits ${route.name}: ${name}`);
      return [name, fitting];
    }),
  );

/** A path of a route, with `value` for each of its parameters. */
export const samplePath = ({ path }: Route, value = 'sample'): string => path.replaceAll(/:\w+/g, value);
