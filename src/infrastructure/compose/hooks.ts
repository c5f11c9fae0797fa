import type { Logger } from 'pino';
import { eventsTo } from '../../adapters/hooks/after-commit.ts';
import { boundedBeforeRegister } from '../../adapters/hooks/before-register.ts';
import { boundedClaims } from '../../adapters/hooks/claims.ts';
import type { AskClaims, BeforeRegister, Hooks, ObserveHook } from '../../application/ports/hooks.ts';
import type { AccountEvent } from '../../domain/event.ts';

type Listener = (events: readonly AccountEvent[]) => void;

type OpenHooks = {
  readonly beforeRegister: BeforeRegister | undefined;
  readonly claims: AskClaims | undefined;
  /** The same listener to events; then the hook hears them, too. */
  readonly heardBy: (listener: Listener) => Listener;
  /** Waits for the events that were committed. */
  readonly close: () => Promise<void>;
};

/** The hooks of the caller, bounded, counted and logged. */
export const openHooks = (
  { beforeRegister, claims, afterCommit }: Hooks = {},
  logger: Logger,
  observe: ObserveHook = () => undefined,
): OpenHooks => {
  const events = afterCommit === undefined ? null : eventsTo(afterCommit, { logger, observe });
  return {
    beforeRegister: beforeRegister && boundedBeforeRegister(beforeRegister, observe),
    claims: claims && boundedClaims(claims, observe),
    heardBy: (listener) =>
      events === null
        ? listener
        : (added) => {
            listener(added);
            events.add(added);
          },
    close: async () => events?.close(),
  };
};
