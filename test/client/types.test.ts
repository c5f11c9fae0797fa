import type * as v from 'valibot';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { createAccountClient } from '../../client/src/account.ts';
import type {
  AcceptedPasskeys,
  AccountEvent,
  AccountEvents,
  AccountExport,
  AppConfirmation,
  Credentials,
  CurrentUser,
  EmailChange,
  EmailChangeConfirmation,
  EmailChangePreview,
  EventsPage,
  Factors,
  FieldProblem,
  LinkedIdentity,
  LoginResult,
  NewPasskeyCredential,
  Passkey,
  PasskeyCreationOptions,
  PasskeyCredential,
  PasskeyRequestOptions,
  PasswordChange,
  PasswordReset,
  PasswordResetPreview,
  PendingLogin,
  RecoveryCodes,
  RefreshResult,
  Registration,
  SecondFactor,
  ServiceCode,
  SessionInfo,
  StartedApp,
  User,
  UsernameChange,
} from '../../client/src/index.ts';
import type * as account from '../../src/adapters/http/routes/accounts/account.ts';
import type { ExportJson } from '../../src/adapters/http/routes/accounts/export.ts';
import type * as email from '../../src/adapters/http/routes/accounts/links.ts';
import type {
  confirmPasswordResetBody,
  PasswordResetPreviewJson,
} from '../../src/adapters/http/routes/accounts/links.ts';
import type { PasswordlessRegisterBody } from '../../src/adapters/http/routes/accounts/register.ts';
import type * as factors from '../../src/adapters/http/routes/factors/factors.ts';
import type * as second from '../../src/adapters/http/routes/factors/second-factor.ts';
import type { LoginBody } from '../../src/adapters/http/routes/login/login.ts';
import type {
  EventJson,
  EventsPage as EventsPageJson,
  IdentityJson,
  SessionJson,
} from '../../src/adapters/json/account.ts';
import type * as json from '../../src/adapters/json/factors.ts';
import type * as tokens from '../../src/adapters/json/fields.ts';
import type { AddressBody, CurrentUserJson, LinkBody, PublicUserJson } from '../../src/adapters/json/fields.ts';
import type * as passkeys from '../../src/adapters/json/passkeys.ts';
import type { FIELD_CODES, FieldProblem as ServiceFieldProblem } from '../../src/domain/errors/app-error.ts';
import type { ErrorCode } from '../../src/domain/errors/catalog.ts';
import { readText } from '../support/checkout/repository.ts';
import { declaredRoutes } from '../support/http/service.ts';

type Plain<T> = T extends object ? { -readonly [Key in keyof T]: Plain<T[Key]> } : T;
type Account = ReturnType<typeof createAccountClient>;
/** The codes whose message has a number of this name. */
type CodeWith<Name> = {
  [Code in keyof typeof FIELD_CODES]: (typeof FIELD_CODES)[Code] extends Name ? Code : never;
}[keyof typeof FIELD_CODES];
/** `taken` is the client's own word. */
type OfService = Exclude<FieldProblem, { code: 'taken' }>;
/** What a call of the account client takes. */
type Taken<Name extends Exclude<keyof Account, 'factors' | 'identities'>> = Parameters<Account[Name]>[0];

describe('the types of the client', () => {
  it('are those of the routes; otherwise this file does not compile', () => {
    expectTypeOf<ServiceCode>().toEqualTypeOf<ErrorCode>();
    expectTypeOf<Pick<OfService, keyof ServiceFieldProblem>>().toEqualTypeOf<ServiceFieldProblem>();
    expectTypeOf<Extract<FieldProblem, { min: number }>['code']>().toEqualTypeOf<CodeWith<'min'>>();
    expectTypeOf<Extract<FieldProblem, { max: number }>['code']>().toEqualTypeOf<CodeWith<'max'>>();
    expectTypeOf<Plain<User>>().toEqualTypeOf<v.InferOutput<typeof PublicUserJson>>();
    expectTypeOf<Plain<CurrentUser>>().toEqualTypeOf<v.InferOutput<typeof CurrentUserJson>>();
    expectTypeOf<Plain<LoginResult>>().toEqualTypeOf<v.InferOutput<typeof tokens.LoginResult>>();
    expectTypeOf<Plain<RefreshResult>>().toEqualTypeOf<v.InferOutput<typeof tokens.RefreshResult>>();
    expectTypeOf<Plain<SessionInfo>>().toEqualTypeOf<v.InferOutput<typeof SessionJson>>();
    expectTypeOf<Plain<Registration>>().toEqualTypeOf<Omit<v.InferInput<PasswordlessRegisterBody>, 'proof'>>();
    expectTypeOf<Plain<Credentials>>().toEqualTypeOf<Omit<v.InferInput<typeof LoginBody>, 'proof'>>();
    expectTypeOf<Plain<PasswordChange>>().toEqualTypeOf<v.InferInput<ReturnType<typeof account.changePasswordBody>>>();
  });

  it('are those of the routes in the account module, too', () => {
    expectTypeOf<Plain<AccountEvent>>().toEqualTypeOf<v.InferOutput<typeof EventJson>>();
    expectTypeOf<Plain<AccountEvents>>().toEqualTypeOf<v.InferOutput<typeof EventsPageJson>>();
    expectTypeOf<Plain<AccountExport>>().toEqualTypeOf<Plain<v.InferOutput<typeof ExportJson>>>();
    expectTypeOf<Plain<LinkedIdentity>>().toEqualTypeOf<v.InferOutput<typeof IdentityJson>>();
    expectTypeOf<Plain<EventsPage>>().toEqualTypeOf<v.InferOutput<typeof account.EventsQuery>>();
    expectTypeOf<Plain<PasswordReset>>().toEqualTypeOf<v.InferInput<ReturnType<typeof confirmPasswordResetBody>>>();
    expectTypeOf<Plain<UsernameChange>>().toEqualTypeOf<v.InferInput<typeof account.ChangeUsernameBody>>();
    expectTypeOf<Plain<EmailChange>>().toEqualTypeOf<v.InferInput<typeof email.PasswordlessEmailChangeBody>>();
    expectTypeOf<Plain<EmailChangeConfirmation>>().toEqualTypeOf<v.InferInput<typeof email.ConfirmEmailChangeBody>>();
    expectTypeOf<Plain<PasswordResetPreview>>().toEqualTypeOf<v.InferOutput<typeof PasswordResetPreviewJson>>();
    expectTypeOf<Plain<EmailChangePreview>>().toEqualTypeOf<v.InferOutput<typeof email.EmailChangePreviewJson>>();
    expectTypeOf<{ email: Taken<'requestPasswordReset'> }>().toEqualTypeOf<v.InferInput<typeof AddressBody>>();
    expectTypeOf<{ email: Taken<'requestEmailVerification'> }>().toEqualTypeOf<v.InferInput<typeof AddressBody>>();
    expectTypeOf<{ locale: Taken<'changeLocale'> }>().toEqualTypeOf<v.InferInput<typeof account.LocaleBody>>();
    expectTypeOf<{ token: Taken<'verifyEmail'> }>().toEqualTypeOf<v.InferInput<typeof LinkBody>>();
    expectTypeOf<{ password?: Taken<'remove'>; code?: Taken<'remove'> }>().toEqualTypeOf<
      v.InferInput<typeof account.PasswordlessDeletionBody>
    >();
  });
});

describe('the types of second factors', () => {
  /** What all of a second factor have, and each with one of three. */
  type Sent = Omit<v.InferInput<typeof second.SecondFactorBody>, 'proof'>;
  type Members<T> = T extends unknown ? keyof T : never;

  it('are those of the routes', () => {
    expectTypeOf<Plain<Factors>>().toEqualTypeOf<Plain<v.InferOutput<typeof json.FactorsJson>>>();
    expectTypeOf<Plain<StartedApp>>().toEqualTypeOf<v.InferOutput<typeof json.StartedAppJson>>();
    expectTypeOf<Plain<RecoveryCodes>>().toEqualTypeOf<Plain<v.InferOutput<typeof factors.RecoveryCodesJson>>>();
    expectTypeOf<Plain<AppConfirmation>>().toEqualTypeOf<v.InferInput<typeof factors.ConfirmAppBody>>();
    expectTypeOf<Plain<PendingLogin>>().toEqualTypeOf<Plain<v.InferOutput<typeof json.PendingLoginJson>>>();
    expectTypeOf<Members<SecondFactor>>().toEqualTypeOf<keyof Sent>();
    expectTypeOf<SecondFactor>().toExtend<v.InferInput<typeof second.SecondFactorBody>>();
  });
});

it('the types of passkeys are those of the routes', () => {
  expectTypeOf<Plain<Passkey>>().toEqualTypeOf<v.InferOutput<typeof json.PasskeyJson>>();
  expectTypeOf<Plain<PasskeyCreationOptions>>().toEqualTypeOf<Plain<v.InferOutput<typeof json.CreationOptionsJson>>>();
  expectTypeOf<Plain<PasskeyRequestOptions>>().toEqualTypeOf<v.InferOutput<typeof json.RequestOptionsJson>>();
  expectTypeOf<Plain<AcceptedPasskeys>>().toEqualTypeOf<v.InferOutput<typeof passkeys.AcceptedPasskeysJson>>();
  expectTypeOf<Plain<NewPasskeyCredential>>().toEqualTypeOf<
    Plain<v.InferInput<typeof passkeys.NewPasskeyBody>['credential']>
  >();
  expectTypeOf<Plain<PasskeyCredential>>().toEqualTypeOf<Plain<v.InferInput<typeof passkeys.UsedCredential>>>();
});

describe('the requests of the client', async () => {
  const source = ['account', 'create-auth-client', 'passkeys', 'service']
    .map((name) => readText(`client/src/${name}.ts`))
    .join('\n');
  const declared = (await declaredRoutes()).map(({ method, path }) => `${method} ${path}`);
  const direct = [...source.matchAll(/(?:call|ask)(?:<[^(]*>)?\('([A-Z]+)', [`'](\/[^'`?$]+)/g)].map(
    ([, method, path = '']) => `${method} ${path.replace(/\/$/, '/:id')}`,
  );
  const named = (call: string) =>
    [...source.matchAll(new RegExp(`\\b${call}\\('([^']+)'\\)?`, 'g'))].map(([, path]) => `POST ${path}`);
  const signIns = [...named('signIn'), ...named('logInAt')];
  const renewals = [...source.matchAll(/\bsendProven<RefreshResult>\('([^']+)'/g)].map(([, path]) => `POST ${path}`);
  const posts = [...named('post'), ...named('confirm')];

  it.each([...new Set([...direct, ...signIns, ...renewals, ...posts, 'GET /client.js', 'GET /device-key'])])(
    '%s is a route',
    (request) => {
      expect(declared).toContain(request);
    },
  );

  it('are all found in its source', () => {
    expect(direct).toHaveLength(33);
    expect(renewals).toHaveLength(1);
    expect(signIns).toHaveLength(5);
    expect(posts).toHaveLength(7);
  });
});
