import type { UnitOfWork } from '../../../../src/application/ports/unit-of-work.ts';
import { AppError } from '../../../../src/domain/errors/app-error.ts';
import { quoting } from '../../harness/translated.ts';
import type { Faults } from './fault.ts';

const NESTED = 'rejects a unit of work within another';
const FAILS = 'rejects with DB_QUERY_FAILED alone when its store fails';

export const REFUSING: Faults = {
  'keeps the changes of a unit of work within another': {
    wrong: ({ stores }) => ({ unitOfWork: { run: (work) => work(stores) } }),
    caughtBy: NESTED,
  },
  'rejects a unit of work within another as if its store had failed': {
    wrong: ({ unitOfWork }) => ({
      unitOfWork: {
        run: (work) =>
          unitOfWork.run(work).catch((error: unknown) => {
            throw error instanceof AppError && error.code === 'SYS_UNEXPECTED_ERROR'
              ? new AppError('DB_QUERY_FAILED')
              : error;
          }),
      },
    }),
    caughtBy: NESTED,
  },
  'lets errors of its driver through': {
    wrong: (_correct, { untranslated }) => ({ unitOfWork: untranslated }),
    caughtBy: FAILS,
  },
  'quotes the driver in the error': {
    wrong: (_correct, { untranslated }) => ({ unitOfWork: { run: quoting(untranslated.run) as UnitOfWork['run'] } }),
    caughtBy: FAILS,
  },
  'says nothing of a failure': {
    wrong: ({ unitOfWork }) => ({
      unitOfWork: { run: (work) => unitOfWork.run(work).catch(() => undefined as never) },
    }),
    caughtBy: FAILS,
  },
};
