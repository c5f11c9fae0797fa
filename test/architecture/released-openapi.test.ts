import { globSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isJson, type Json } from '../../src/adapters/http/openapi/components.ts';
import { ROOT, readText } from '../support/checkout/repository.ts';
import { currentDocument } from '../support/openapi/current-document.ts';

/** The member at a path, with references followed. */
const resolved = (document: Json, value: unknown): Json => {
  const ref = isJson(value) ? value.$ref : undefined;
  if (typeof ref !== 'string') return isJson(value) ? value : {};
  const names = ref
    .slice(2)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  return resolved(
    document,
    names.reduce((part: unknown, name) => (isJson(part) ? part[name] : undefined), document),
  );
};

const entriesOf = (value: unknown): [string, unknown][] => (isJson(value) ? Object.entries(value) : []);
const textsIn = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

/** What a client may rely on in a schema, a line for each member: its type, and whether it is always there. */
const promisesOf = (document: Json, schema: unknown, at: string, depth = 0): string[] => {
  const {
    type,
    const: constant,
    enum: values,
    properties,
    required,
    items,
    allOf,
    oneOf,
    anyOf,
  } = resolved(document, schema);
  if (depth > 8) return [];
  const parts = [allOf, oneOf, anyOf].flatMap((list) => (Array.isArray(list) ? list : []));
  return [
    ...(type === undefined ? [] : [`${at}: ${[type].flat().join(' or ')}`]),
    ...(constant === undefined ? [] : [`${at}: is ${constant}`]),
    ...textsIn(values).map((value) => `${at}: may be ${value}`),
    ...textsIn(required).map((name) => `${at}.${name}: always`),
    ...entriesOf(properties).flatMap(([name, each]) => promisesOf(document, each, `${at}.${name}`, depth + 1)),
    ...(items === undefined ? [] : promisesOf(document, items, `${at}[]`, depth + 1)),
    ...parts.flatMap((part) => promisesOf(document, part, at, depth + 1)),
  ];
};

/** The limits of a member of a request, which may only become wider. */
const LIMITS: Readonly<Record<string, (before: number, now: number) => boolean>> = {
  maxLength: (before, now) => now >= before,
  maximum: (before, now) => now >= before,
  maxItems: (before, now) => now >= before,
  minLength: (before, now) => now <= before,
  minimum: (before, now) => now <= before,
};

type Operation = { readonly title: string; readonly operation: Json };

const operationsOf = (document: Json): Operation[] =>
  entriesOf(document.paths).flatMap(([path, item]) =>
    entriesOf(item).map(([method, operation]) => ({
      title: `${method.toUpperCase()} ${path}`,
      operation: resolved(document, operation),
    })),
  );

/** The members of a request: those of its body, and its parameters. */
const membersOf = (document: Json, { operation }: Operation) => {
  const content = entriesOf(resolved(document, operation.requestBody).content);
  const bodies = content.map(([, body]) => resolved(document, isJson(body) ? body.schema : {}));
  const parameters = (Array.isArray(operation.parameters) ? operation.parameters : []).map((each) =>
    resolved(document, each),
  );
  return {
    schemas: new Map([
      ...bodies
        .flatMap(({ properties }) => entriesOf(properties))
        .map(([name, each]) => [name, resolved(document, each)] as const),
      ...parameters.map(({ name, schema }) => [String(name), resolved(document, schema)] as const),
    ]),
    required: new Set([
      ...bodies.flatMap(({ required }) => textsIn(required)),
      ...parameters.filter(({ required }) => required === true).map(({ name }) => String(name)),
    ]),
  };
};

/** What a client could send to the former document, and not to the new one. */
const refusals = (before: Json, now: Json, was: Operation, is: Operation): string[] => {
  const [former, current] = [membersOf(before, was), membersOf(now, is)];
  return [
    ...[...current.required].filter((name) => !former.required.has(name)).map((name) => `${was.title} needs ${name}`),
    ...[...former.schemas].flatMap(([name, schema]) => {
      const after = current.schemas.get(name);
      if (after === undefined) return [`${was.title} does not take ${name}`];
      const narrower = Object.entries(LIMITS).filter(([limit, isWider]) => {
        const [low, high] = [schema[limit], after[limit]];
        return high !== undefined && (low === undefined || !isWider(Number(low), Number(high)));
      });
      return narrower.map(([limit]) => `${was.title} ${name}: ${limit}`);
    }),
  ];
};

const responsesOf = (document: Json, { title, operation }: Operation): string[] =>
  entriesOf(operation.responses).flatMap(([status, response]) => {
    const { content, headers } = resolved(document, response);
    const answer = `${title} ${status}`;
    return [
      answer,
      ...entriesOf(headers).map(([name]) => `${answer} has ${name}`),
      ...entriesOf(content).flatMap(([type, body]) => [
        `${answer} ${type}`,
        ...promisesOf(document, isJson(body) ? body.schema : {}, answer),
      ]),
    ];
  });

/** Pages for links in mail, and their script: people get there, and no client. `test/http/pages/link-pages.test.ts`: links still work. */
const OF_LINKS = /^GET \/account[-/]/;

/** What clients of a released document rely on, and the new one does not keep. A line each; none if every client still works. */
const brokenPromises = (released: Json, current: Json): string[] => {
  const operations = new Map(operationsOf(current).map((each) => [each.title, each]));
  return operationsOf(released).flatMap((was) => {
    if (OF_LINKS.test(was.title)) return [];
    const is = operations.get(was.title);
    if (is === undefined) return [`${was.title} is gone`];
    const kept = new Set(responsesOf(current, is));
    const lost = responsesOf(released, was).filter((promise) => !kept.has(promise));
    return [...lost, ...refusals(released, current, was, is)];
  });
};

const current = await currentDocument();
const released = globSync('test/released/*/openapi.json', { cwd: ROOT });

describe('the OpenAPI document', () => {
  it.each(released)('keeps what clients of %s rely on', (path) => {
    expect(brokenPromises(JSON.parse(readText(path)), current)).toEqual([]);
  });

  const text = JSON.stringify(current);
  const changed = (part: string, other: string): Json => {
    expect(text).toContain(part);
    return JSON.parse(text.replaceAll(part, other));
  };
  it.each([
    ['a route', '"/auth/login":', '"/auth/log-in":', /^POST \/auth\/login is gone$/],
    ['a member of an answer', '"emailVerified":{', '"isEmailVerified":{', /emailVerified: boolean$/],
    ['a member of a request', '"currentPassword":{', '"oldPassword":{', / does not take currentPassword$/],
    ['a status', '"201":{', '"200":{', / 201$/],
  ])('would not keep them without %s', (_what, part, other, problem) => {
    expect(brokenPromises(current, changed(part, other))).toContainEqual(expect.stringMatching(problem));
  });

  it.each([
    ['a longer text', '"maxLength":2048', '"maxLength":4096', / proof: maxLength$/],
    ['a request without a member', '"required":["account","password"]', '"required":["account"]', / needs password$/],
  ])('would not keep those of a version that took %s', (_what, part, other, problem) => {
    expect(brokenPromises(changed(part, other), current)).toContainEqual(expect.stringMatching(problem));
  });
});
