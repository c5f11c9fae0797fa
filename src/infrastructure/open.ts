import type * as v from 'valibot';
import { type PasswordlessRegisterBody, registerBody } from '../adapters/http/routes/accounts/register.ts';
import { LoginBody } from '../adapters/http/routes/login/login.ts';
import { checkerInto } from '../adapters/http/stages/input-validation.ts';
import type { OwnTables } from '../adapters/records/own-tables.ts';
import { registration } from '../application/accounts/register.ts';
import { login } from '../application/login/login.ts';
import { logout } from '../application/sessions/end-sessions.ts';
import { refresh } from '../application/sessions/refresh.ts';
import { AppError, type FieldProblem } from '../domain/errors/app-error.ts';
import { closingOnFailure } from './closing.ts';
import type { Overrides } from './compose/ports.ts';
import { compose } from './compose.ts';
import type { Config } from './config.ts';
import { openLog } from './logging/log.ts';

/** Brings the database up to date, for programs with tables of their own and MIGRATE_ON_START=false. @throws Error that names the setting */
export const migrate = async ({ database }: Config, tables: OwnTables = {}): Promise<void> =>
  (await import('./open-sql.ts')).migrateSql(database, tables);

/**
 * The use cases without HTTP, for scripts and tests. Nothing listens, nothing is purged, and mails wait until a service sends them. The log
 * goes to standard error. `register` and `logIn` take the bodies of the API, and validate them. All of them throw an `AppError` with a code
 * of the catalog.
 * @param overrides as of `serve`. The returned `close` calls its `close`, and so does a failure to open.
 * @throws Error that names the invalid setting
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
    const [add, enter] = [registration(service.deps), login(service.deps)];
    const [renew, end] = [refresh(service.deps), logout(service.deps)];
    return {
      /** @returns tokens, a `pendingLogin` if a second factor has to be added, or `null` if the user has to verify the address first */
      register: async (body: v.InferInput<PasswordlessRegisterBody>) => {
        const { locale, ...input } = checked(registerBody(service.deps), body);
        return add({ ...input, locales: locale === undefined ? [] : [locale] });
      },
      /** Returns a `pendingLogin` instead of tokens if the account needs a second factor. */
      logIn: async (body: v.InferInput<typeof LoginBody>) => enter(checked(LoginBody, body)),
      /** @returns another pair of tokens, in place of the given one. A later replay of the given token ends the session. */
      refresh: (refreshToken: string) => renew([refreshToken]),
      logOut: (refreshToken: string) => end([refreshToken]),
      close: opened.closeAll,
    };
  });

/** A body as the API parses it. @throws AppError CLIENT_PARAMS_VALIDATION_FAILED */
const checked = <Schema extends v.GenericSchema>(schema: Schema, body: unknown): v.InferOutput<Schema> => {
  const problems: FieldProblem[] = [];
  const output = checkerInto(problems)(schema, body, 'body');
  if (problems.length > 0) throw new AppError('CLIENT_PARAMS_VALIDATION_FAILED', { details: problems });
  return output as v.InferOutput<Schema>;
};
