import type { RequestListener } from 'node:http';
import type { Scraped } from '../../adapters/metrics/prometheus.ts';
import { openServer, type RunningServer, SETTINGS } from './server.ts';

type Address = { readonly host: string; readonly port: number };

/** Scrapers need a few. */
export const MAX_CONNECTIONS = 64;
const REQUEST_TIMEOUT_MS = 5_000;

/** Serves `GET /metrics` on a separate address, which should not be public. */
export const listenForMetrics = (metrics: Scraped, address: Address): Promise<RunningServer> => {
  const request: RequestListener = (incoming, response) => {
    if (incoming.method !== 'GET' || incoming.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    metrics.text().then(
      (text) => response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  };
  return openServer(
    { request, errorResponse: async (status) => ({ status, headers: [], body: '' }) },
    { ...address, requestTimeout: REQUEST_TIMEOUT_MS, maxConnections: MAX_CONNECTIONS, settings: SETTINGS.metrics },
  );
};
