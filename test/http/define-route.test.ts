// Proves SPEC 1.8, 17.1, 17.6, 22.1, 22.2; ASVS 8.1.2
import * as v from 'valibot';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { route } from '../../src/adapters/http/routing/define-route.ts';
import type { AccessClaims } from '../../src/domain/tokens.ts';

const minimal = {
  name: 'probe',
  tag: 'health',
  summary: 'A test',
  at: 'GET /probe',
  response: { data: v.null() },
  handler: () => null,
} as const;
const ALWAYS = [
  'CLIENT_PARAMS_VALIDATION_FAILED',
  'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED',
  'SYS_HTTP_UNEXPECTED_ERROR',
  'SYS_SERIALIZATION_ERROR',
  'SYS_UNEXPECTED_ERROR',
];
const OF_CALLERS = ['AUTH_TOKEN_INVALID', 'AUTH_TOKEN_MISSING', 'DB_RECORD_NOT_FOUND', 'DB_QUERY_FAILED'];
const sorted = (codes: Iterable<string>) => [...codes].sort();

it('a route requires authentication, is of the tier global and answers 200 by default', () => {
  const declared = route(minimal);
  const expected = { name: 'probe', method: 'GET', path: '/probe', auth: 'required', throttle: 'global' };
  expect(declared).toMatchObject(expected);
  expect(Object.keys(declared.request)).toEqual(['query']);
  expect(declared.response.status).toBe(200);
});

it('a route without a response sends null, whatever its handler returns', () => {
  const { response } = route({ ...minimal, response: { status: 202 }, handler: () => 'a secret' });
  expect(response.status).toBe(202);
  expect(v.parse(response.data, 'a secret')).toBeNull();
  expect(v.parse(response.data, undefined)).toBeNull();
});

describe('the error codes of a route', () => {
  it.each(['public', 'optional'] as const)('are those of every route when it is %s', (auth) => {
    expect(sorted(route({ ...minimal, auth }).errors)).toEqual(sorted(ALWAYS));
  });

  it('include those of the guard and of the session when authentication is required', () => {
    expect(sorted(route(minimal).errors)).toEqual(sorted([...ALWAYS, ...OF_CALLERS]));
  });

  it('include those that it declares, each once', () => {
    const { errors } = route({ ...minimal, auth: 'public', errors: ['AUTH_USER_DUPLICATE', 'SYS_UNEXPECTED_ERROR'] });
    expect(sorted(errors)).toEqual(sorted([...ALWAYS, 'AUTH_USER_DUPLICATE']));
  });
});

const Data = v.object({ name: v.string(), tags: v.array(v.string()) });

describe('the compiler', () => {
  it('refuses a payload that does not match its schema', () => {
    // @ts-expect-error: a member is missing
    route({ ...minimal, response: { data: Data }, handler: () => ({ name: 'ada' }) });
    // @ts-expect-error: a member is missing, asynchronously
    route({ ...minimal, response: { data: Data }, handler: async () => ({ name: 'ada' }) });
    // @ts-expect-error: a member has another type
    route({ ...minimal, response: { data: Data }, handler: () => ({ name: 'ada', tags: [1] }) });
    // @ts-expect-error: there is no payload
    route({ ...minimal, response: { data: v.null() }, handler: () => undefined });
  });

  it('refuses a query schema that ignores unknown parameters', () => {
    route({ ...minimal, request: { query: v.strictObject({ page: v.optional(v.string()) }) } });
    route({ ...minimal, request: { query: v.unknown() } });
    // Of a page.
    route({ ...minimal, request: { query: v.looseObject({}) } });
    // @ts-expect-error: unknown parameters would be ignored
    route({ ...minimal, request: { query: v.object({ page: v.optional(v.string()) }) } });
  });

  it('refuses codes, methods, tiers and strategies that do not exist', () => {
    // @ts-expect-error: no such code
    route({ ...minimal, errors: ['AUTH_USER_UNKNOWN'] });
    // @ts-expect-error: no such method
    route({ ...minimal, at: 'FETCH /probe' });
    // @ts-expect-error: no such tier
    route({ ...minimal, throttle: 'lenient' });
    // @ts-expect-error: no such strategy
    route({ ...minimal, auth: 'private' });
    // @ts-expect-error: a path begins with a slash
    route({ ...minimal, at: 'GET probe' });
  });

  it('knows the types of the input of a handler', () => {
    route({
      ...minimal,
      request: { body: v.object({ a: v.pipe(v.string(), v.transform(Number)) }), params: v.object({ id: v.string() }) },
      handler: ({ body, query, params, claims, signal }) => {
        expectTypeOf(body).toEqualTypeOf<{ a: number }>();
        expectTypeOf(query).toEqualTypeOf<undefined>();
        expectTypeOf(params).toEqualTypeOf<{ id: string }>();
        expectTypeOf(claims).toEqualTypeOf<AccessClaims>();
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
        return null;
      },
    });
    route({
      ...minimal,
      auth: 'optional',
      handler: ({ claims }) => {
        expectTypeOf(claims).toEqualTypeOf<AccessClaims | undefined>();
        return null;
      },
    });
    route({
      ...minimal,
      auth: 'public',
      handler: ({ claims }) => {
        expectTypeOf(claims).toEqualTypeOf<undefined>();
        return null;
      },
    });
  });
});
