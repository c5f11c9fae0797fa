import type { Check } from '../../adapters/http/routes/health.ts';
import { rotationBudgets } from '../../adapters/session-repository/rotation-recovery/budgets.ts';
import type { Config } from '../config.ts';
import type { Ports } from './ports.ts';

export type OwnPorts = Partial<Ports>;

/** What a caller of `serve` brings, in place of the service's own. ADR 0029. */
export type OwnParts = {
  /**
   * Adapters for some of the ports. `users` and `sessions` come together: with them no database is opened. `sessions` has to rotate
   * within `rotationBudget(config)`, or not at all.
   * `events`, `links`, `outbox` and `unitOfWork` come together, with `users` and `sessions`. Beside `users` without them nothing is
   * recorded about accounts, each change is kept at once, and there are no mail and no routes that need records.
   * With `tokens`, the key set of the service is empty: publish the keys yourself. `hasher` and `attempts` also replace the limits on
   * waiting passwords and on wrong ones.
   */
  readonly ports?: OwnPorts;
  /** Whether their stores respond: `GET /health/ready` runs these checks besides the service's. */
  readonly checks?: readonly Check[];
  /** Closes their stores. Called once: after the last response, or when the start fails. */
  readonly close?: () => Promise<void> | void;
};

/**
 * Milliseconds that `rotate` of a session repository of the caller's own may take: a rotation that has not happened by then must
 * never happen. ADR 0022.
 */
export const rotationBudget = ({ requestTimeout }: Pick<Config, 'requestTimeout'>): number =>
  rotationBudgets(requestTimeout).rotation;
