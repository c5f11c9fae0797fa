import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { HOOK_NAMES, HOOK_OUTCOMES, type ObserveHook } from '../../application/ports/hooks.ts';
import { WEBHOOK_OUTCOMES } from '../../application/report.ts';
import { TASKS, type Task } from '../../application/sessions/purge.ts';
import { type AccountEvent, EVENT_KINDS, SESSION_ENDINGS } from '../../domain/event.ts';
import { FAILURE_CLASSES } from '../records/storage.ts';

export type Readings = {
  readonly passwordHashes: () => Readonly<Record<'running' | 'waiting', number>>;
  readonly endedSessions: () => Readonly<Record<'listed' | 'waiting', number>>;
  /** `null` if the service has no pool of connections, as with SQLite. */
  readonly databaseConnections: () => Readonly<Record<'used' | 'idle' | 'waiting', number>> | null;
  readonly maxDatabaseConnections: number | null;
  readonly rateLimits: () => RateLimitMode;
  /** `null` if the service opens no Redis. */
  readonly isRedisUp: (() => Promise<boolean>) | null;
  /** Milliseconds by which the clock of the service is ahead of this machine's. */
  readonly clockOffset: () => number;
  readonly isReady: () => Promise<boolean>;
  /** Whether a part of the service is down without which most requests succeed. */
  readonly isDegraded: () => Promise<boolean>;
  /** `null` if the service sends no mail. */
  readonly waitingMail: (() => Backlog) | null;
  readonly waitingWebhooks: () => Backlog;
};

/** How many messages or events wait to be sent, and for how many seconds the oldest of them has waited. */
export type Backlog = { readonly count: number; readonly seconds: number };

/** Where requests are counted: in this process, or in a store of all instances. `degraded`: that store is unavailable, or evicts counts. */
export type RateLimitMode = (typeof LIMIT_MODES)[number];
const LIMIT_MODES = ['process', 'shared', 'degraded'] as const;

const REFRESH_OUTCOMES = ['rotated', 'recovered', 'replayable', 'raced', 'unproven', 'reused', 'ended', 'unsent'];

const MAIL_OUTCOMES = ['sent', 'refused', 'failed', 'given-up'];

const LATENCY_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3, 10, 30];

const HELP = {
  tandem_account_events_total: 'What happened to accounts, by kind, and by the reason for the end of a session.',
  tandem_build_info: 'The version of the service, and the commit that it was built from: always 1.',
  tandem_clock_offset_seconds:
    "By how much the database's clock, which the service goes by, is ahead of this machine's.",
  tandem_database_connections: 'Connections of the pool, and requests that are waiting for one.',
  tandem_database_connections_max: 'The most connections that the pool opens.',
  tandem_database_failures_total: 'Statements and transactions that failed, by class.',
  tandem_degraded: 'Whether a part is down without which most requests succeed, as GET /health/ready responds: 1 or 0.',
  tandem_ended_sessions:
    'What is on the list of ended sessions, as this instance has last read it, and requests that wait for it.',
  tandem_hook_calls_total:
    'Calls of hooks, by hook and outcome. dropped: not called, since too many calls were running or waiting.',
  tandem_http_request_duration_seconds: 'Duration of requests since their arrival, by route and status.',
  tandem_http_unreadable_requests_total: 'Responses to what is not HTTP or did not arrive in time, by status.',
  tandem_log_lines_lost_total: 'Lines of the log that were dropped, since they could not be written.',
  tandem_mail_attempts_total: 'Attempts to send a mail, by outcome.',
  tandem_mail_waiting: 'Messages that wait to be sent.',
  tandem_mail_waiting_seconds: 'How long the oldest message has been waiting.',
  tandem_password_hashes: 'Passwords that are being hashed, and that are waiting.',
  tandem_purge_done_timestamp_seconds:
    'When a purge last left nothing that was due, by what is purged; at first, the start.',
  tandem_rate_limit_mode: 'Where requests are counted for the rate limits: 1 for the current mode.',
  tandem_ready: 'Whether requests should be sent to this instance, as GET /health/ready responds: 1 or 0.',
  tandem_redis_fallbacks_total:
    'Steps of counting requests and log-ins that this instance made for itself because Redis is unavailable.',
  tandem_redis_up: 'Whether the check `redis` of GET /health/ready is up: 1 or 0.',
  tandem_refreshes_total: 'Refreshes with a verified token, by outcome.',
  tandem_spans_lost_total: 'Spans of traces that the collector did not take, or that there was no room for.',
  tandem_webhook_attempts_total:
    'Attempts to tell webhooks of events, by outcome. given-up, disabled: nothing more is tried.',
  tandem_webhook_deliveries_waiting: 'Events that webhooks are still to be told of, at most 1000.',
  tandem_webhook_deliveries_waiting_seconds: 'How long the oldest of these events has been waiting.',
} as const;
type MetricName = keyof typeof HELP;

/** The values of all labels come from fixed sets, so clients cannot create new ones. @param build `revision` is the commit, if it is known */
export const prometheusMetrics = (build: { readonly version: string; readonly revision: string | null }) => {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const metric = (name: MetricName, ...labelNames: string[]) => ({ name, help: HELP[name], labelNames, registers });
  const counter = (name: MetricName, ...labels: string[]) => new Counter(metric(name, ...labels));
  /** Counts by one label. All values of the label are exported as 0 from the start, so that the first event is an increase. */
  const countBy = (name: MetricName, label: string, values: readonly string[]) => {
    const counts = counter(name, label);
    for (const value of values) counts.inc({ [label]: value }, 0);
    return (value: string): void => counts.inc({ [label]: value });
  };
  const info = new Gauge({ ...metric('tandem_build_info', 'version', 'revision'), aggregator: 'first' });
  info.set({ version: build.version, revision: build.revision ?? '' }, 1);
  const requests = new Histogram({
    ...metric('tandem_http_request_duration_seconds', 'route', 'status'),
    buckets: LATENCY_BUCKETS_SECONDS,
  });
  const unreadable = counter('tandem_http_unreadable_requests_total', 'status');
  const fallbacks = counter('tandem_redis_fallbacks_total');
  const lostSpans = counter('tandem_spans_lost_total');
  const events = counter('tandem_account_events_total', 'kind', 'reason');
  for (const kind of EVENT_KINDS)
    for (const reason of kind === 'session-ended' ? SESSION_ENDINGS : ['']) events.inc({ kind, reason }, 0);
  const hooks = counter('tandem_hook_calls_total', 'hook', 'outcome');
  for (const hook of HOOK_NAMES) for (const outcome of HOOK_OUTCOMES) hooks.inc({ hook, outcome }, 0);
  const purges = new Gauge({ ...metric('tandem_purge_done_timestamp_seconds', 'rows'), aggregator: 'max' });
  for (const rows of TASKS) purges.setToCurrentTime({ rows });
  return {
    observeRequest: (route: string, status: number, duration: number): void =>
      requests.observe({ route, status }, duration / 1000),
    observeUnreadable: (status: number): void => unreadable.inc({ status }),
    observeRefresh: countBy('tandem_refreshes_total', 'outcome', REFRESH_OUTCOMES),
    observeMail: countBy('tandem_mail_attempts_total', 'outcome', MAIL_OUTCOMES),
    observeLostSpans: (count: number): void => lostSpans.inc(count),
    observeWebhook: countBy('tandem_webhook_attempts_total', 'outcome', WEBHOOK_OUTCOMES),
    observeFallback: (): void => fallbacks.inc(),
    observeDatabaseFailure: countBy('tandem_database_failures_total', 'class', FAILURE_CLASSES),
    observeEvent: ({ kind, reason, count }: AccountEvent): void => events.inc({ kind, reason: reason ?? '' }, count),
    observeHook: ((hook, outcome) => hooks.inc({ hook, outcome })) satisfies ObserveHook,
    observePurged: (rows: Task): void => purges.setToCurrentTime({ rows }),
    watch: (readings: Readings): void => registerGauges(readings, registers),
    watchLog: (countLost: () => number): void => {
      new Counter({
        ...metric('tandem_log_lines_lost_total'),
        collect() {
          this.reset();
          this.inc(countLost());
        },
      });
    },
    /** The metrics of this process as JSON, which `metricsOfWorkers` aggregates. */
    values: (): Promise<MetricsOfWorker> => registry.getMetricsAsJSON(),
    contentType: registry.contentType,
    text: (): Promise<string> => registry.metrics(),
  };
};

export type PrometheusMetrics = ReturnType<typeof prometheusMetrics>;
export type MetricsOfWorker = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;
export type MetricsSource = { readonly contentType: string; readonly text: () => Promise<string> };

/** The metrics of all workers together, which the primary process serves. @param latest returns the last known metrics of each worker */
export const metricsOfWorkers = (latest: () => MetricsOfWorker[]): MetricsSource => ({
  contentType: Registry.PROMETHEUS_CONTENT_TYPE,
  text: () => AggregatorRegistry.aggregate(latest()).metrics(),
});

/** How the values of all workers become one value. */
type Aggregator = 'sum' | 'min' | 'max' | 'average';

const registerGauges = (readings: Readings, registers: Registry[]): void => {
  const { isRedisUp, isReady, isDegraded, waitingMail, waitingWebhooks, maxDatabaseConnections } = readings;
  const gauge = (name: MetricName, aggregator: Aggregator, read: () => number | Promise<number>) =>
    new Gauge({
      ...{ name, help: HELP[name], aggregator, registers },
      async collect() {
        this.set(await read());
      },
    });
  const gaugeBy = (label: string, name: MetricName, read: () => object, aggregator: Aggregator = 'sum') =>
    new Gauge({
      ...{ name, help: HELP[name], aggregator, registers, labelNames: [label] },
      collect() {
        for (const [value, count] of Object.entries(read())) this.set({ [label]: value }, count);
      },
    });
  gaugeBy('state', 'tandem_password_hashes', readings.passwordHashes);
  gaugeBy('state', 'tandem_database_connections', () => readings.databaseConnections() ?? {});
  if (maxDatabaseConnections !== null) gauge('tandem_database_connections_max', 'sum', () => maxDatabaseConnections);
  gauge('tandem_ready', 'min', async () => Number(await isReady()));
  gauge('tandem_degraded', 'max', async () => Number(await isDegraded()));
  gauge('tandem_clock_offset_seconds', 'average', () => readings.clockOffset() / 1000);
  const modes = () => Object.fromEntries(LIMIT_MODES.map((mode) => [mode, Number(readings.rateLimits() === mode)]));
  gaugeBy('mode', 'tandem_rate_limit_mode', modes, 'max');
  if (isRedisUp !== null) gauge('tandem_redis_up', 'min', async () => Number(await isRedisUp()));
  gaugeBy('state', 'tandem_ended_sessions', readings.endedSessions);
  const gaugeWaiting = (name: 'tandem_webhook_deliveries_waiting' | 'tandem_mail_waiting', read: () => Backlog) => {
    gauge(name, 'max', () => read().count);
    gauge(`${name}_seconds`, 'max', () => read().seconds);
  };
  gaugeWaiting('tandem_webhook_deliveries_waiting', waitingWebhooks);
  if (waitingMail !== null) gaugeWaiting('tandem_mail_waiting', waitingMail);
};
