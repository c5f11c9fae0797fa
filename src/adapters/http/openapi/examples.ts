import { type Components, isJson, type Json } from './components.ts';

/** The time in every example. */
export const EXAMPLE_TIME = '2026-11-21T23:03:48.228Z';
export const EXAMPLE_ID = '01M805M084GXA5E2JTR4FKH6WN';

/** A value of a JSON Schema, from its own examples and those of its parts; `undefined` if a part has none. */
export const exampleOf = (schema: Json, components: Components): unknown => {
  const { examples, type, enum: values, properties, items, anyOf, ...rest } = components.resolve(schema);
  if (Array.isArray(examples)) return examples[0];
  if ('const' in rest) return rest.const;
  if (Array.isArray(values)) return values[0];
  if (type === 'null') return null;
  if (type === 'boolean') return true;
  if (rest.format === 'date-time') return EXAMPLE_TIME;
  if (isJson(items)) return listOf(exampleOf(items, components));
  if (isJson(properties)) return objectOf(properties, components);
  return Array.isArray(anyOf)
    ? anyOf.map((each) => exampleOf(each, components)).find((each) => each !== undefined)
    : undefined;
};

const listOf = (item: unknown): unknown => (item === undefined ? undefined : [item]);

const objectOf = (properties: Json, components: Components): unknown => {
  const members = Object.entries(properties).map(([name, schema]) => [name, exampleOf(schema as Json, components)]);
  return members.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(members);
};

/** The member `example` of a media type or a parameter, if there is an example. */
export const withExample = (schema: Json, components: Components): Json => {
  const example = exampleOf(schema, components);
  return { schema, ...(example !== undefined && { example }) };
};
