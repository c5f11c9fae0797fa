import { EventEmitter } from 'node:events';
import type { Logger } from 'pino';
import type { Report, Reports } from '../../application/reports.ts';

/** Where use cases report, and who listens. A listener that throws has no effect but a line in the log. */
export const openReports = (logger: Logger): { readonly reports: EventEmitter<Reports>; readonly report: Report } => {
  const reports = new EventEmitter<Reports>();
  // Its type allows names that are not declared as well.
  const emit = reports.emit.bind(reports) as Report;
  const report: Report = (name, ...details) => {
    try {
      emit(name, ...details);
    } catch (error) {
      logger.error({ err: error }, 'a report could not be recorded');
    }
  };
  return { reports, report };
};
