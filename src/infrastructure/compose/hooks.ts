import type { Logger } from 'pino';
import { afterCommitQueue } from '../../adapters/hooks/after-commit.ts';
import { limitedBeforeRegister, limitedClaims, limitedVerifyPassword } from '../../adapters/hooks/bounded.ts';
import { type AskDeps, askOverHttp } from '../../adapters/hooks/over-http.ts';
import type { Hooks, ObserveHook } from '../../application/ports/hooks.ts';
import type { Config } from '../config.ts';
import { loadOrCreateHookKey } from '../keys.ts';

const HOOKS: Readonly<Record<keyof Hooks, true>> = { beforeRegister: true, claims: true, afterCommit: true };

/**
 * The hooks of the configuration and of the caller. Their calls are limited in time and number, and counted.
 * @throws Error if there are two hooks for registrations, a hook has an unknown name or is no function, or the key that signs requests cannot be used
 */
export const openHooks = async (
  config: Config,
  hooks: Hooks = {},
  deps: AskDeps & { readonly logger: Logger },
  observe: ObserveHook = () => undefined,
) => {
  assertHooks(hooks);
  const { beforeRegister: callersHook, claims, afterCommit } = hooks;
  const { hookBeforeRegister: url, verifyPasswords } = config;
  if (url !== null && callersHook !== undefined)
    throw new Error('HOOK_BEFORE_REGISTER: must not be set beside hooks.beforeRegister: let that one ask the other');
  const ask = async (at: string, type: Parameters<typeof askOverHttp>[2]) =>
    askOverHttp(at, await loadOrCreateHookKey(config), type, deps);
  const beforeRegister = url === null ? callersHook : await ask(url, 'registration.requested');
  const events = afterCommit === undefined ? null : afterCommitQueue(afterCommit, deps.logger, observe);
  return {
    beforeRegister: beforeRegister && limitedBeforeRegister(beforeRegister, observe),
    claims: claims && limitedClaims(claims, observe),
    verifyFormerPassword:
      verifyPasswords === null
        ? undefined
        : limitedVerifyPassword(
            await ask(verifyPasswords.at, 'password.presented'),
            verifyPasswords.until,
            observe,
            deps.clock,
          ),
    afterCommit: events?.add,
    close: async () => events?.close(),
  };
};

/** For callers in JavaScript: with a misspelt `beforeRegister`, everybody could register. */
const assertHooks = (hooks: Hooks): void => {
  for (const [name, hook] of Object.entries(hooks)) {
    if (!Object.hasOwn(HOOKS, name)) throw new Error(`hooks: ${name} is none of ${Object.keys(HOOKS).join(', ')}`);
    if (hook !== undefined && typeof hook !== 'function') throw new Error(`hooks: ${name} has to be a function`);
  }
};
