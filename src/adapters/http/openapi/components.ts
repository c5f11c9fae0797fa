import { isDeepStrictEqual } from 'node:util';
import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema';
import type { GenericSchema } from 'valibot';
import { typedCode, typedName } from '../../../domain/text.ts';
import { typedAccount } from '../../json/fields.ts';

type Direction = 'input' | 'output';

/** A check or a transformation in code has no JSON Schema. */
const IN_CODE = new Set(['raw_check', 'transform']);
/** What is left out: the document describes a text as it is meant. */
const NORMALIZING = new Set<unknown>([typedAccount, typedCode, typedName]);
const UNDESCRIBED = 'undescribed';

/**
 * The JSON Schema (draft 2020-12) of what a client sends (`input`) or receives (`output`). A schema with a title becomes a component.
 * @throws Error for a check or a transformation in code that no metadata `jsonSchema` describes
 */
export const jsonSchemaOf = (schema: GenericSchema, typeMode: Direction, components: Components): Json => {
  const { $schema: _dialect, ...converted } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode,
    overrideAction,
  });
  return extracted(converted, components) as Json;
};

/** Metadata follows the code in a pipe, and replaces the mark. */
const overrideAction: NonNullable<ConversionConfig['overrideAction']> = ({ valibotAction, jsonSchema }) => {
  if (valibotAction.type === 'trim' || NORMALIZING.has(Reflect.get(valibotAction, 'operation'))) return jsonSchema;
  if (IN_CODE.has(valibotAction.type)) return { ...jsonSchema, jsonSchema: UNDESCRIBED };
  return undefined;
};

const extracted = (node: unknown, components: Components): unknown => {
  if (Array.isArray(node)) return node.map((item) => extracted(item, components));
  if (!isJson(node)) return node;
  if (node.jsonSchema === UNDESCRIBED) throw new Error('a check or a transformation has no metadata jsonSchema');
  if (isJson(node.jsonSchema)) return node.jsonSchema;
  const { examples, ...schema } = node;
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, extracted(value, components)]));
  const whole = examples === undefined ? inner : { ...inner, examples };
  return typeof node.title === 'string' ? components.refer('schemas', node.title, whole) : whole;
};

export type Json = Readonly<Record<string, unknown>>;

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Kind = 'schemas' | 'responses' | 'headers' | 'parameters' | 'examples' | 'securitySchemes';
type ByName = Record<string, Json>;

/** Collects the parts of the document that several places refer to (OpenAPI 3.1 §4.8.7): only those that are referred to. */
export const collectComponents = () => {
  const all: Partial<Record<Kind, ByName>> = {};
  const add = (kind: Kind, name: string, component: Json): void => {
    all[kind] ??= {};
    const named = all[kind];
    if (name in named && !isDeepStrictEqual(named[name], component)) throw new Error(`two ${kind} are called ${name}`);
    named[name] = component;
  };
  return {
    add,
    refer: (kind: Kind, name: string, component: Json): Json => {
      add(kind, name, component);
      return { $ref: `#/components/${kind}/${name}` };
    },
    /** The component that a reference names, or the object itself. */
    resolve: (node: Json): Json => {
      const [, kind, name] = /^#\/components\/(\w+)\/(.+)$/.exec(String(node.$ref)) ?? [];
      return kind === undefined || name === undefined ? node : (all[kind as Kind]?.[name] ?? {});
    },
    /** Sorted by name, so that the order of the routes does not matter. */
    all: (): Json =>
      Object.fromEntries(Object.entries(all).map(([kind, named]) => [kind, Object.fromEntries(sorted(named))])),
  };
};

const sorted = (named: ByName): [string, Json][] => Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1));

export type Components = ReturnType<typeof collectComponents>;

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
