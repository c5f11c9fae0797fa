import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import { random } from '../../adapters/clock/system.ts';
import { outageLog } from '../../adapters/log/lines.ts';
import type { PrometheusMetrics } from '../../adapters/metrics/prometheus.ts';
import { recordSpans } from '../../adapters/tracing/spans.ts';
import { refusedLoginCounter } from '../../application/login/refused-login-counter.ts';
import type { Report, Reports } from '../../application/report.ts';
import type { Config } from '../config.ts';
import { logOfMail, logOfWebhooks } from '../delivery.ts';
import { VERSION } from '../version.ts';

type Listeners = {
  readonly logger: Logger;
  readonly metrics: PrometheusMetrics | null;
  readonly countRefusal: (...details: Reports['login-refused']) => void;
};

/** Passes each report of a use case to the log, to the metrics, or to `countRefusal`. An error of a listener is only logged. */
export const openReports = ({ logger, metrics, countRefusal }: Listeners): Report => {
  const reports = new EventEmitter<Reports>();
  reports.on('login-refused', countRefusal);
  reports.on('rehash-failed', (error) => logger.warn({ err: error }, 'a password hash could not be renewed'));
  reports.on('link-failed', (error) => logger.warn({ err: error }, 'a kept sign-in could not be linked'));
  reports.on('mail', logOfMail(logger));
  reports.on('webhook', logOfWebhooks(logger));
  if (metrics !== null) {
    reports.on('refresh', metrics.observeRefresh);
    reports.on('mail', (outcome) => {
      if (outcome !== 'dropped') metrics.observeMail(outcome);
    });
    reports.on('webhook', metrics.observeWebhook);
  }
  // The type of `emit` also allows names that are not declared; `Report` does not.
  const emit = reports.emit.bind(reports) as Report;
  return (name, ...details) => {
    try {
      emit(name, ...details);
    } catch (error) {
      logger.error({ err: error }, 'a report could not be recorded');
    }
  };
};

/**
 * Milliseconds after which the storing of a count begins at the latest, while the database keeps up. The time is random: refused log-ins of unknown
 * accounts are not stored, so the load of storing at a fixed time would tell an attacker which accounts exist.
 */
const STORE_AFTER = 5_000;

export const storeRefusedLogins = (deps: Parameters<typeof refusedLoginCounter>[0], logger: Logger) => {
  const counts = refusedLoginCounter(deps);
  let timer: NodeJS.Timeout | undefined;
  const oneAtATime = pLimit(1);
  let closed = false;

  const store = async () => {
    await counts.store().catch((error: unknown) => logger.warn({ err: error }, 'refused log-ins could not be stored'));
    const lost = counts.takeLost();
    if (lost > 0) logger.warn({ count: lost }, 'refused log-ins were not counted: too many users have some');
  };
  const storeLater = () => {
    if (closed) return;
    timer ??= setTimeout(
      () => {
        timer = undefined;
        void oneAtATime(store).then(() => counts.waiting() > 0 && storeLater());
      },
      STORE_AFTER * (0.2 + 0.8 * random()),
    ).unref();
  };

  return {
    count: (...refusal: Reports['login-refused']) => {
      counts.count(...refusal);
      storeLater();
    },
    /** Stores the remaining counts. They are lost if the database does not respond. */
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await oneAtATime(store);
    },
  };
};

const OUTAGE_LINES = {
  unavailable: 'spans cannot be sent to OTEL_EXPORTER_OTLP_ENDPOINT, and are lost',
  available: 'spans can be sent again',
};

/** Loads OpenTelemetry only if a collector is configured. @returns a function that stops recording, and sends the waiting spans within three seconds */
export const openTracing = async (
  { endpoint, ...settings }: Config['tracing'],
  logger: Logger,
  onLost: (count: number) => void = () => undefined,
): Promise<() => Promise<void>> => {
  if (endpoint === null) return async () => undefined;
  const { openTelemetry } = await import('../../adapters/tracing/open-telemetry.ts');
  const outage = outageLog(logger, OUTAGE_LINES);
  const recorder = await openTelemetry({
    ...settings,
    ...{ endpoint, version: VERSION, onLost },
    // Without `bind`, the log lines would have the id of the request during which the spans are sent.
    onAttempt: AsyncLocalStorage.bind((error?: unknown) =>
      error === undefined ? outage.succeeded() : outage.failed(error),
    ),
  });
  const stop = recordSpans(recorder);
  return async () => {
    stop();
    await recorder.close();
  };
};
