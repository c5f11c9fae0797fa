import { isJson, type Json } from '../../../src/adapters/http/openapi/components.ts';

/** A part of a document with all its references replaced by what they name. No schema of the service contains itself. */
export const resolved = (node: unknown, document: Json): unknown => {
  if (Array.isArray(node)) return node.map((item) => resolved(item, document));
  if (!isJson(node)) return node;
  if (typeof node.$ref === 'string') return resolved(named(node.$ref, document), document);
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, resolved(value, document)]));
};

const named = (reference: string, document: Json): unknown =>
  reference
    .slice(2)
    .split('/')
    .reduce<unknown>((node, name) => (isJson(node) ? node[name] : undefined), document);
