import { AsyncLocalStorage } from 'node:async_hooks';
import { AppError } from '../../domain/errors/app-error.ts';

const units = new AsyncLocalStorage<true>();

/**
 * Runs a unit of work, unless the caller is within one: a nested unit could wait for the outer one for ever, or be kept when the outer one
 * fails.
 * @throws AppError SYS_UNEXPECTED_ERROR
 */
export const outsideOfUnits = async <Result>(run: () => Promise<Result>): Promise<Result> => {
  if (units.getStore() === true)
    throw new AppError('SYS_UNEXPECTED_ERROR', { reason: 'a unit of work within another' });
  return units.run(true, run);
};
