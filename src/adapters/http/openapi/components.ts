import { isDeepStrictEqual } from 'node:util';

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
