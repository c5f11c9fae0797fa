import type { Logger } from 'pino';
import { eventsTo } from '../../adapters/hooks/after-commit.ts';
import { boundedBeforeRegister } from '../../adapters/hooks/before-register.ts';
import { boundedClaims } from '../../adapters/hooks/claims.ts';
import { beforeRegisterOverHttp } from '../../adapters/hooks/over-http.ts';
import type { AskClaims, BeforeRegister, Hooks, ObserveHook } from '../../application/ports/hooks.ts';
import type { AccountEvent } from '../../domain/event.ts';
import type { Config } from '../config.ts';
import { loadOrCreateHookKey } from '../keys.ts';

type OpenHooks = {
  readonly beforeRegister: BeforeRegister | undefined;
  readonly claims: AskClaims | undefined;
  /** Tells the hook of committed events. */
  readonly onEvents: (events: readonly AccountEvent[]) => void;
  /** Waits for the events that were committed. */
  readonly close: () => Promise<void>;
};

type HookSettings = Pick<Config, 'hookBeforeRegister' | 'hookPrivateKey' | 'dataDir'>;

/**
 * The hooks of the configuration and of the caller, bounded, counted and logged.
 * @throws Error when both decide about registrations, or the key that signs requests cannot be used.
 */
export const openHooks = async (
  config: HookSettings,
  { beforeRegister: ofCaller, claims, afterCommit }: Hooks = {},
  logger: Logger,
  observe: ObserveHook = () => undefined,
): Promise<OpenHooks> => {
  const beforeRegister = (await openOverHttp(config, ofCaller)) ?? ofCaller;
  const events = afterCommit === undefined ? null : eventsTo(afterCommit, { logger, observe });
  return {
    beforeRegister: beforeRegister && boundedBeforeRegister(beforeRegister, observe),
    claims: claims && boundedClaims(claims, observe),
    onEvents: (added) => events?.add(added),
    close: async () => events?.close(),
  };
};

const openOverHttp = async ({ hookBeforeRegister: url, ...keys }: HookSettings, other: Hooks['beforeRegister']) => {
  if (url === null) return undefined;
  if (other !== undefined)
    throw new Error('HOOK_BEFORE_REGISTER: must not be set beside hooks.beforeRegister: let that one ask the other');
  return beforeRegisterOverHttp(url, await loadOrCreateHookKey(keys));
};
