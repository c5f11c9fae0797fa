import { isDeepStrictEqual } from 'node:util';
import { isJson, type Json } from '../../../src/adapters/http/openapi/components.ts';

/** Which of the two schemas is the released one, whose members clients know. */
type Released = 'given' | 'expected';

/** Why a value that clients send, valid before, may not be accepted now. */
export const requestReasons = (before: Json, now: Json, place: string): string[] => unfit(before, now, place, 'given');

/** Why a value that the service sends now may not be one that it announced before. */
export const responseReasons = (before: Json, now: Json, place: string): string[] =>
  unfit(now, before, place, 'expected');

/** Why a value of the JSON Schema `given` may not fit the schema `expected`. */
const unfit = (given: Json, expected: Json, place: string, released: Released): string[] => {
  const alternatives = alternativesOf(given);
  const fitting = alternativesOf(expected);
  if (alternatives.length > 1 || fitting.length > 1) {
    return alternatives.flatMap((each) => {
      const reasons = fitting.map((other) => unfit(each, other, place, released));
      return reasons.some((none) => none.length === 0) ? [] : shortest(reasons);
    });
  }
  return [
    ...typeReasons(given, expected, place),
    ...valueReasons(given, expected, place),
    ...limitReasons(given, expected, place),
    ...memberReasons(given, expected, place, released),
    ...itemReasons(given, expected, place, released),
  ];
};

/** Those of the alternative that fits best. */
const shortest = (reasons: readonly string[][]): string[] => reasons.toSorted((a, b) => a.length - b.length)[0] ?? [];

const alternativesOf = (schema: Json): Json[] => {
  const all = schema.anyOf ?? schema.oneOf;
  return Array.isArray(all) ? all : [schema];
};

const typeReasons = (given: Json, expected: Json, place: string): string[] => {
  const fits = expected.type === undefined || expected.type === given.type;
  const narrower = expected.type === 'number' && given.type === 'integer';
  // A const or an enum says which values, whatever the type.
  return fits || narrower || valuesOf(given) !== undefined
    ? []
    : [`${place}: ${given.type ?? 'any type'} does not fit ${expected.type}`];
};

const valuesOf = (schema: Json): readonly unknown[] | undefined => {
  if ('const' in schema) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : undefined;
};

const valueReasons = (given: Json, expected: Json, place: string): string[] => {
  const accepted = valuesOf(expected);
  if (accepted === undefined) return [];
  const values = valuesOf(given);
  if (values === undefined) return [`${place}: any value does not fit ${JSON.stringify(accepted)}`];
  const others = values.filter((value) => !accepted.some((each) => isDeepStrictEqual(each, value)));
  return others.map((value) => `${place}: ${JSON.stringify(value)} does not fit`);
};

const LOWER = ['minLength', 'minimum', 'minItems'];
const UPPER = ['maxLength', 'maximum', 'maxItems'];
const SAME = ['pattern', 'format'];

/** A limit of what is expected has to be kept by what is given. */
const limitReasons = (given: Json, expected: Json, place: string): string[] => {
  const limit = (schema: Json, name: string, otherwise: number) => Number(schema[name] ?? otherwise);
  const broken = [
    ...LOWER.filter((name) => limit(given, name, -Infinity) < limit(expected, name, -Infinity)),
    ...UPPER.filter((name) => limit(given, name, Infinity) > limit(expected, name, Infinity)),
    ...SAME.filter((name) => expected[name] !== undefined && given[name] !== expected[name]),
  ];
  return broken.map((name) => `${place}: ${name} ${given[name] ?? 'none'} does not fit ${expected[name]}`);
};

type Members = Readonly<Record<string, Json>>;
const membersOf = ({ properties }: Json): Members => (isJson(properties) ? (properties as Members) : {});
const requiredOf = ({ required }: Json): readonly string[] => (Array.isArray(required) ? required : []);

const memberReasons = (given: Json, expected: Json, place: string, released: Released): string[] => {
  const [mine, theirs] = [membersOf(given), membersOf(expected)];
  const [known, now] = released === 'given' ? [mine, theirs] : [theirs, mine];
  const removed = Object.keys(known).filter((name) => now[name] === undefined);
  const unsure = requiredOf(expected).filter((name) => !requiredOf(given).includes(name) && !removed.includes(name));
  return [
    ...removed.map((name) => `${place}.${name}: removed`),
    ...unsure.map((name) => `${place}.${name}: ${released === 'given' ? 'is required now' : 'may be absent now'}`),
    ...Object.entries(mine).flatMap(([name, schema]) =>
      theirs[name] === undefined ? [] : unfit(schema, theirs[name], `${place}.${name}`, released),
    ),
  ];
};

/** The items of arrays, and the members of objects whose names are not listed. */
const itemReasons = (given: Json, expected: Json, place: string, released: Released): string[] => {
  const closed = expected.additionalProperties === false && given.additionalProperties !== false;
  return [
    ...(closed && released === 'given' ? [`${place}: further members are refused`] : []),
    ...['items', 'additionalProperties'].flatMap((name) => {
      const [mine, theirs] = [given[name], expected[name]];
      return isJson(mine) && isJson(theirs) ? unfit(mine, theirs, `${place}[]`, released) : [];
    }),
  ];
};
