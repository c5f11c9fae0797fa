import type * as v from 'valibot';
import { type PasswordlessRegisterBody, registerBody } from '../adapters/http/routes/accounts/register.ts';
import { LoginBody } from '../adapters/http/routes/login/login.ts';
import { checkerInto } from '../adapters/http/stages/input-validation.ts';
import type { OwnTables } from '../adapters/records/own-tables.ts';
import { registerByPolicy } from '../application/accounts/register.ts';
import { login } from '../application/login/login.ts';
import { logout } from '../application/sessions/end-sessions.ts';
import { refresh } from '../application/sessions/refresh.ts';
import { AppError, type FieldProblem } from '../domain/errors/app-error.ts';
import { closingOnFailure } from './closing.ts';
import type { Overrides } from './compose/ports.ts';
import { compose } from './compose.ts';
import type { Config } from './config.ts';
import { openLog } from './logging/log.ts';

/** Brings the database up to date, for programs with tables of their own and MIGRATE_ON_START=false. @throws Error that says why it cannot */
export const migrate = async ({ database }: Config, tables: OwnTables = {}): Promise<void> =>
  (await import('./open-sql.ts')).migrateSql(database, tables);

/**
 * Some use cases without HTTP, for scripts and tests. It opens no port and purges no rows; mail and webhooks wait for a running service. The log goes to
 * standard error. `register` and `logIn` take bodies as the API does, and validate them. Refusals are thrown as an `AppError`.
 * @param overrides as for `serve`, but `stopsAtSignals` has no effect. Its `close` is called by the returned `close`, or if opening fails.
 * @throws for instance Error that names the invalid setting
 *
 * @example
 * const auth = await open(parseConfig({ NODE_ENV: 'test' }), { storage: memoryStorage() });
 * await auth.register({ username: 'ada', email: 'ada@example.org', password: 'correct horse' });
 * const session = await auth.logIn({ account: 'ada', password: 'correct horse' });
 * if ('refreshToken' in session) await auth.refresh(session.refreshToken);
 * await auth.close();
 */
export const open = async <const Own extends OwnTables = Record<never, never>>(
  config: Config,
  { close, ...overrides }: Overrides<Own> = {},
) =>
  closingOnFailure(async (opened) => {
    if (close !== undefined) opened.add(close);
    const log = await openLog(config, 'stderr');
    opened.add(log.close);
    const service = await compose(config, log.logger, overrides);
    opened.add(service.close);
    const [registerUser, logInUser] = [registerByPolicy(service.deps), login(service.deps)];
    const [refreshTokens, endSession] = [refresh(service.deps), logout(service.deps)];
    return {
      /** @returns tokens; a `pendingLogin` if the user has to add a second factor; or `null` if the user has to verify the address, or to log in, first */
      register: async (body: v.InferInput<PasswordlessRegisterBody>) => {
        const { locale, ...input } = parseBody(registerBody(service.deps), body);
        return registerUser({ ...input, locales: locale === undefined ? [] : [locale] });
      },
      /** @returns tokens, or a `pendingLogin` if a second factor, or a code by mail for a new device, is missing */
      logIn: async (body: v.InferInput<typeof LoginBody>) => logInUser(parseBody(LoginBody, body)),
      /** @returns a new pair of tokens, which replaces the old one */
      refresh: (refreshToken: string) => refreshTokens([refreshToken]),
      logOut: (refreshToken: string) => endSession([refreshToken]),
      close: opened.closeAll,
    };
  });

/** Parses a body as the API does. @throws AppError CLIENT_PARAMS_VALIDATION_FAILED */
const parseBody = <Schema extends v.GenericSchema>(schema: Schema, body: unknown): v.InferOutput<Schema> => {
  const problems: FieldProblem[] = [];
  const output = checkerInto(problems)(schema, body, 'body');
  if (problems.length > 0) throw new AppError('CLIENT_PARAMS_VALIDATION_FAILED', { details: problems });
  return output as v.InferOutput<Schema>;
};
