import { EventEmitter } from 'node:events';
import type { Logger } from 'pino';
import type { PrometheusMetrics } from '../../adapters/metrics/prometheus.ts';
import type { Report, Reports } from '../../application/use-case.ts';
import { logOfMail } from '../mail/delivery.ts';

type Listeners = {
  readonly logger: Logger;
  readonly metrics: PrometheusMetrics | null;
  readonly countRefusal: (...details: Reports['login-refused']) => void;
};

/** Passes the reports of use cases to the log and to the metrics. A listener that throws only causes a line in the log. */
export const openReports = ({ logger, metrics, countRefusal }: Listeners): Report => {
  const reports = new EventEmitter<Reports>();
  reports.on('login-refused', countRefusal);
  reports.on('rehash-failed', (error) => logger.warn({ err: error }, 'a password hash could not be renewed'));
  reports.on('mail', logOfMail(logger));
  if (metrics !== null) {
    reports.on('refresh', metrics.observeRefresh);
    reports.on('mail', (outcome) => {
      if (outcome !== 'dropped') metrics.observeMail(outcome);
    });
  }
  // Its type allows names that are not declared as well.
  const emit = reports.emit.bind(reports) as Report;
  return (name, ...details) => {
    try {
      emit(name, ...details);
    } catch (error) {
      logger.error({ err: error }, 'a report could not be recorded');
    }
  };
};
