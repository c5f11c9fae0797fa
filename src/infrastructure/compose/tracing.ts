import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from 'pino';
import { outageLog } from '../../adapters/log/lines.ts';
import { recordSpans } from '../../adapters/tracing/spans.ts';
import type { Config } from '../config.ts';
import { VERSION } from '../version.ts';

const OUTAGE = {
  unavailable: 'spans cannot be sent to OTEL_EXPORTER_OTLP_ENDPOINT, and are lost',
  available: 'spans can be sent again',
};

/**
 * Records spans, if there is a collector. OpenTelemetry is imported only then.
 * @returns a function that sends what is left, for three seconds at most.
 */
export const openTracing = async (
  { endpoint, ...settings }: Config['tracing'],
  logger: Logger,
  onLost: (count: number) => void = () => undefined,
): Promise<() => Promise<void>> => {
  if (endpoint === null) return async () => undefined;
  const { openTelemetry } = await import('../../adapters/tracing/open-telemetry.ts');
  const outage = outageLog(logger, OUTAGE);
  const recorder = await openTelemetry({
    ...settings,
    ...{ endpoint, version: VERSION, onLost },
    // Its lines belong to no request, although spans are sent after the end of one.
    onSent: AsyncLocalStorage.bind((error?: unknown) =>
      error === undefined ? outage.succeeded() : outage.failed(error),
    ),
  });
  const stop = recordSpans(recorder);
  return async () => {
    stop();
    await recorder.close();
  };
};
