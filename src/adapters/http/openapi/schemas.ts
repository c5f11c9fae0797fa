import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema';
import type { GenericSchema } from 'valibot';
import { type Components, isJson, type Json } from './components.ts';

type Direction = 'input' | 'output';

/** A check or a transformation in code has no JSON Schema. */
const IN_CODE = new Set(['raw_check', 'transform']);
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
  return lifted(converted, components) as Json;
};

/** Metadata comes after the code in a pipe, and replaces the mark. The document asks for trimmed text. */
const overrideAction: NonNullable<ConversionConfig['overrideAction']> = ({ valibotAction, jsonSchema }) => {
  if (IN_CODE.has(valibotAction.type)) return { ...jsonSchema, jsonSchema: UNDESCRIBED };
  return valibotAction.type === 'trim' ? jsonSchema : undefined;
};

const lifted = (node: unknown, components: Components): unknown => {
  if (Array.isArray(node)) return node.map((item) => lifted(item, components));
  if (!isJson(node)) return node;
  if (node.jsonSchema === UNDESCRIBED) throw new Error('a check or a transformation has no metadata jsonSchema');
  if (isJson(node.jsonSchema)) return node.jsonSchema;
  const { examples, ...schema } = node;
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, lifted(value, components)]));
  const whole = examples === undefined ? inner : { ...inner, examples };
  return typeof node.title === 'string' ? components.refer('schemas', node.title, whole) : whole;
};
