import { createServer, type RequestListener } from 'node:http';
import type { PrometheusMetrics } from '../adapters/metrics/prometheus.ts';

type Address = { readonly host: string; readonly port: number };

/** Answers `GET /metrics` at an address of its own, so that the public never reaches it. */
export const listenForMetrics = async (
  metrics: PrometheusMetrics,
  { host, port }: Address,
): Promise<{ readonly close: () => Promise<void> }> => {
  const answer: RequestListener = (request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    metrics.text().then(
      (text) => response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  };
  const server = createServer({ requestTimeout: 5_000 }, answer);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new Error(`METRICS cannot be listened on: ${error.message}`)));
    server.listen(port, host, resolve);
  });
  return {
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
