import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/adapters/http/openapi/components.ts';
import { readText } from '../support/checkout/repository.ts';
import { breakingChanges } from '../support/openapi/compatibility.ts';
import { DOCUMENT, RELEASED_DOCUMENT } from '../support/openapi/current-document.ts';

const released = JSON.parse(readText(RELEASED_DOCUMENT));
const changelog = readText('CHANGELOG.md');

/** The versions that the CHANGELOG has a section for, newest first. */
const versions = [...changelog.matchAll(/^## v?\[?(\d+\.\d+\.\d+)/gm)].map(([, version = '']) => version);

/** The part of the CHANGELOG about what was not released yet. */
const unreleased = changelog.split(/^## v?\[?\d/m)[0] ?? '';

/** Those changes that a text does not name, each in backticks. */
const unnamed = (changes: readonly string[], text: string): string[] =>
  changes.filter((change) => !text.replaceAll(/\s+/g, ' ').includes(`\`${change}\``));

describe('docs/openapi.json', () => {
  it('breaks no client of the last release, unless the CHANGELOG names the change', () => {
    const changes = breakingChanges(released, JSON.parse(readText(DOCUMENT)));
    expect(unnamed(changes, unreleased)).toEqual([]);
  });

  it('is compared with that of the last release', () => {
    if (versions.length > 0) expect(released.info.version).toBe(versions[0]);
    expect(unreleased).toMatch(/^## Unreleased$/m);
  });
});

describe('a breaking change', () => {
  const change = 'GET /things: 200: body.name: removed';

  it('is accepted if the CHANGELOG names it, whatever its line breaks', () => {
    expect(unnamed([change], `- Things are nameless: \`${change.replace(' body', '\n  body')}\`.`)).toEqual([]);
    expect(unnamed([change], '- `GET /things: 200: body.names: removed`')).toEqual([change]);
    expect(unnamed([change], `- ${change}`)).toEqual([change]);
  });
});

const object = (properties: Json, required = Object.keys(properties)): Json => ({
  type: 'object',
  properties,
  required,
});
const text = { type: 'string' };

type Parts = {
  readonly sent?: Json;
  readonly answered?: Json;
  readonly query?: Json;
  readonly security?: readonly Json[];
  readonly more?: Json;
  readonly headers?: Json;
};

/** A document with one route. */
const documentOf = ({ sent, answered = text, query, security = [], more = {}, headers = {} }: Parts): Json => ({
  paths: {
    '/things': {
      post: {
        security,
        parameters: query === undefined ? [] : [{ name: 'q', in: 'query', ...query }],
        ...(sent !== undefined && {
          requestBody: { required: true, content: { 'application/json': { schema: sent } } },
        }),
        responses: { 200: { headers, content: { 'application/json': { schema: answered } } }, ...more },
      },
    },
  },
});

const error = (...codes: string[]): Json => ({
  headers: {},
  content: {
    'application/json': {
      schema: { oneOf: codes.map((code) => object({ success: { const: false }, code: { const: code } })) },
    },
  },
});

const ROUTE = 'POST /things: ';
const changes = (before: Parts, after: Parts): string[] =>
  breakingChanges(documentOf(before), documentOf(after)).map((change) => change.replace(ROUTE, ''));

describe('of a request, the comparison', () => {
  it.each<[string, Json, Json, string]>([
    ['a new required member', object({ a: text }), object({ a: text, b: text }), 'body.b: is required now'],
    ['a member that is required now', object({ a: text }, []), object({ a: text }), 'body.a: is required now'],
    ['a removed member', object({ a: text, b: text }, ['a']), object({ a: text }), 'body.b: removed'],
    ['another type', object({ a: text }), object({ a: { type: 'number' } }), 'body.a: string does not fit number'],
    ['a removed value', { enum: ['a', 'b'] }, { enum: ['a'] }, 'body: "b" does not fit'],
    ['values instead of any', text, { enum: ['a'] }, 'body: any value does not fit ["a"]'],
    ['a higher minimum', { ...text, minLength: 1 }, { ...text, minLength: 2 }, 'body: minLength 1 does not fit 2'],
    ['a new maximum', text, { ...text, maxLength: 9 }, 'body: maxLength none does not fit 9'],
    ['a new pattern', text, { ...text, pattern: 'a' }, 'body: pattern none does not fit a'],
    ['null, which is refused', { anyOf: [text, { type: 'null' }] }, text, 'body: null does not fit string'],
    ['items', { items: { enum: ['a'] } }, { items: { enum: ['b'] } }, 'body[]: "a" does not fit'],
    [
      'further members, which are refused',
      object({}),
      { ...object({}), additionalProperties: false },
      'body: further members are refused',
    ],
  ])('finds %s, which the opposite change is not', (_what, before, after, change) => {
    expect(changes({ sent: before }, { sent: after })).toEqual([change]);
    const opposite = changes({ sent: after }, { sent: before });
    expect(opposite).not.toContain(change);
  });

  it('accepts what is wider', () => {
    expect(changes({ sent: object({ a: text }) }, { sent: object({ a: text, b: text }, ['a']) })).toEqual([]);
    expect(changes({ sent: { enum: ['a'] } }, { sent: { enum: ['a', 'b'] } })).toEqual([]);
    expect(changes({ sent: { enum: ['a'] } }, { sent: text })).toEqual([]);
    expect(changes({ sent: { ...text, minLength: 2 } }, { sent: { ...text, minLength: 1 } })).toEqual([]);
    expect(changes({ sent: text }, { sent: { anyOf: [text, { type: 'null' }] } })).toEqual([]);
    expect(changes({ sent: object({ a: text }) }, { sent: object({ a: text }, []) })).toEqual([]);
  });

  it('finds a body that is required now, parameters and credentials', () => {
    expect(changes({}, { sent: text })).toEqual(['body: is required now']);
    expect(changes({}, { query: { schema: text, required: true } })).toEqual(['query q: is required now']);
    expect(changes({}, { query: { schema: text } })).toEqual([]);
    expect(changes({ query: { schema: text } }, { query: { schema: text, required: true } })).toEqual([
      'query q: is required now',
    ]);
    expect(changes({ query: { schema: text } }, {})).toEqual(['query q: removed']);
    expect(changes({ query: { schema: text } }, { query: { schema: { enum: ['a'] } } })).toEqual([
      'query q: any value does not fit ["a"]',
    ]);
    const optional = [{}, { token: [] }];
    const required = [{ token: [] }];
    expect(changes({ security: optional }, { security: required })).toEqual(['security: more is required']);
    expect(changes({}, { security: required })).toEqual(['security: more is required']);
    expect(changes({ security: required }, { security: optional })).toEqual([]);
    expect(changes({ security: required }, {})).toEqual([]);
  });
});

describe('of a response, the comparison', () => {
  it.each<[string, Json, Json, string]>([
    ['a removed member', object({ a: text, b: text }), object({ a: text }), 'body.b: removed'],
    ['a removed optional member', object({ a: text }, []), object({}), 'body.a: removed'],
    ['a member that may be absent', object({ a: text }), object({ a: text }, []), 'body.a: may be absent now'],
    ['another type', object({ a: text }), object({ a: { type: 'number' } }), 'body.a: number does not fit string'],
    ['a new value', { enum: ['a'] }, { enum: ['a', 'b'] }, 'body: "b" does not fit'],
    ['any value instead of some', { enum: ['a'] }, text, 'body: any value does not fit ["a"]'],
    ['a new null', text, { anyOf: [text, { type: 'null' }] }, 'body: null does not fit string'],
    ['another format', { ...text, format: 'date-time' }, text, 'body: format none does not fit date-time'],
    [
      'values of unlisted members',
      { additionalProperties: { enum: ['up'] } },
      { additionalProperties: { enum: ['up', 'off'] } },
      'body[]: "off" does not fit',
    ],
  ])('finds %s', (_what, before, after, change) => {
    expect(changes({ answered: before }, { answered: after })).toEqual([`200: ${change}`]);
  });

  it('accepts what is narrower, and new members', () => {
    expect(changes({ answered: object({ a: text }) }, { answered: object({ a: text, b: text }) })).toEqual([]);
    expect(changes({ answered: { enum: ['a', 'b'] } }, { answered: { enum: ['a'] } })).toEqual([]);
    expect(changes({ answered: text }, { answered: { ...text, format: 'uri' } })).toEqual([]);
    expect(changes({ answered: { anyOf: [text, { type: 'null' }] } }, { answered: text })).toEqual([]);
  });

  it('finds removed routes, methods, statuses, codes and headers', () => {
    const [before, after] = [documentOf({}), { paths: { '/things': {} } }];
    expect(breakingChanges(before, after)).toEqual(['POST /things: removed']);
    expect(breakingChanges(before, { paths: {} })).toEqual(['POST /things: removed']);
    const codes = { 409: error('A', 'B') };
    expect(changes({ more: codes }, {})).toEqual(['409: removed']);
    expect(changes({ more: codes }, { more: { 409: error('B') } })).toEqual(['409: code A: removed']);
    expect(changes({ headers: { 'Set-Cookie': {} } }, {})).toEqual(['200: header Set-Cookie: removed']);
  });

  it('accepts new routes, statuses, codes and headers', () => {
    expect(breakingChanges({ paths: {} }, documentOf({}))).toEqual([]);
    expect(changes({}, { more: { 409: error('A') }, headers: { ETag: {} } })).toEqual([]);
    expect(changes({ more: { 409: error('A') } }, { more: { 409: error('A', 'B') } })).toEqual([]);
  });
});

describe('the released document', () => {
  it('has no change against itself, and one for each part that is taken away', () => {
    expect(breakingChanges(released, released)).toEqual([]);
    const spoilt = structuredClone(released);
    delete spoilt.paths['/auth/login'];
    spoilt.components.schemas.User.properties.email.type = 'number';
    const found = breakingChanges(released, spoilt);
    expect(found).toContain('POST /auth/login: removed');
    expect(found).toContain('GET /users/me: 200: body.data.email: number does not fit string');
  });
});
