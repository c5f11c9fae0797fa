import type * as v from 'valibot';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type {
  Credentials,
  FieldProblem,
  PasswordChange,
  Refreshed,
  Registration,
  ServiceCode,
  SessionInfo,
  SignedIn,
  User,
} from '../../client/src/index.ts';
import type * as auth from '../../src/adapters/http/routes/auth.ts';
import type { SessionJson } from '../../src/adapters/http/routes/sessions.ts';
import type { ChangePasswordBody, LoginBody, RegisterBody } from '../../src/adapters/http/routing/schemas.ts';
import type { PublicUserJson } from '../../src/adapters/json/public-user.ts';
import type { FieldProblem as ServiceFieldProblem } from '../../src/domain/errors/app-error.ts';
import type { ErrorCode } from '../../src/domain/errors/catalog.ts';
import { readText } from '../support/checkout/repository.ts';
import { declaredRoutes } from '../support/http/service.ts';

type Plain<T> = T extends object ? { -readonly [Key in keyof T]: Plain<T[Key]> } : T;

describe('the types of the client', () => {
  it('are those of the routes; otherwise this file does not compile', () => {
    expectTypeOf<ServiceCode>().toEqualTypeOf<ErrorCode>();
    expectTypeOf<Plain<FieldProblem>>().toEqualTypeOf<Plain<ServiceFieldProblem>>();
    expectTypeOf<Plain<User>>().toEqualTypeOf<v.InferOutput<typeof PublicUserJson>>();
    expectTypeOf<Plain<SignedIn>>().toEqualTypeOf<v.InferOutput<typeof auth.SignedIn>>();
    expectTypeOf<Plain<Refreshed>>().toEqualTypeOf<v.InferOutput<typeof auth.Refreshed>>();
    expectTypeOf<Plain<SessionInfo>>().toEqualTypeOf<v.InferOutput<typeof SessionJson>>();
    expectTypeOf<Plain<Registration>>().toEqualTypeOf<v.InferInput<typeof RegisterBody>>();
    expectTypeOf<Plain<Credentials>>().toEqualTypeOf<v.InferInput<typeof LoginBody>>();
    expectTypeOf<Plain<PasswordChange>>().toEqualTypeOf<v.InferInput<typeof ChangePasswordBody>>();
  });
});

describe('the requests of the client', async () => {
  const source = ['create-auth-client', 'service'].map((name) => readText(`client/src/${name}.ts`)).join('\n');
  const declared = (await declaredRoutes()).map(({ method, path }) => `${method} ${path}`);
  const direct = [...source.matchAll(/(?:call|ask)(?:<[^(]*>)?\('([A-Z]+)', [`'](\/[^'`?$]+)/g)].map(
    ([, method, path = '']) => `${method} ${path.replace(/\/$/, '/:id')}`,
  );
  const signIns = [...source.matchAll(/enter\('([^']+)'/g)].map(([, path]) => `POST ${path}`);

  it.each([...new Set([...direct, ...signIns, 'GET /client.js'])])('%s is a route', (request) => {
    expect(declared).toContain(request);
  });

  it('are all found in its source', () => {
    expect(direct).toHaveLength(6);
    expect(signIns).toHaveLength(2);
  });
});
