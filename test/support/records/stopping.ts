import { memoryRecords } from '../../../src/adapters/records/memory.ts';
import type { Records } from '../../../src/application/storage/records.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';

/** Records of a database that fails after `stop`. */
export const recordsThatStop = () => {
  let isDown = false;
  const records: Records = new Proxy(memoryRecords(), {
    get: (target, name) => (isDown ? () => Promise.reject(new AppError('DB_QUERY_FAILED')) : Reflect.get(target, name)),
  });
  const stop = (): void => {
    isDown = true;
  };
  return { records, stop };
};
