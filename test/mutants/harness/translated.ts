import { AppError } from '../../../src/domain/errors/app-error.ts';

/** The result of the work; foreign errors become DB_QUERY_FAILED. */
export const translated = async <Result>(work: () => Result | Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('DB_QUERY_FAILED', { reason: error instanceof Error ? error.name : 'unknown' });
  }
};

/** The same adapter; foreign errors become DB_QUERY_FAILED. */
export const withTranslatedErrors = <Port extends object>(port: Port): Port =>
  Object.fromEntries(
    Object.entries(port).map(([name, method]) => [name, (...given: unknown[]) => translated(() => method(...given))]),
  ) as Port;

/** A fault of a method: errors become DB_QUERY_FAILED, but repeat what the driver says. */
export const quoting =
  <Given extends readonly unknown[], Result>(method: (...given: Given) => Promise<Result>) =>
  async (...given: Given): Promise<Result> => {
    try {
      return await method(...given);
    } catch (error) {
      throw new AppError('DB_QUERY_FAILED', { reason: String(error) });
    }
  };
