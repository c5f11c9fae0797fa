import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** What is read at the moment somebody asks for it. */
export type Readings = {
  readonly passwordHashes: () => Readonly<Record<'running' | 'waiting', number>>;
  /** `null` where there is no pool: the embedded database has one connection. */
  readonly databaseConnections: () => Readonly<Record<'used' | 'idle' | 'waiting', number>> | null;
  readonly rateLimits: () => RateLimitMode;
};

/** Who counts: this process alone, all instances in Redis, or this process because Redis is away. */
export type RateLimitMode = (typeof MODES)[number];
const MODES = ['process', 'shared', 'degraded'] as const;

/** Counted from 0 on, so that the first theft is an increase. */
const OUTCOMES = ['rotated', 'replayable', 'raced', 'reused', 'over'] as const;

/** Seconds. */
const LATENCY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3, 10, 30];

/** What the service tells Prometheus. Labels are names of routes, statuses and outcomes: a client can't make new ones. */
export const prometheusMetrics = () => {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'tandem_http_request_duration_seconds',
    help: 'Answered requests, from their arrival on, by route and status.',
    labelNames: ['route', 'status'],
    buckets: LATENCY_BUCKETS,
    registers,
  });
  const unreadable = new Counter({
    name: 'tandem_http_unreadable_requests_total',
    help: 'What was no HTTP request or came too late, by the status of the answer.',
    labelNames: ['status'],
    registers,
  });
  const refreshes = new Counter({
    name: 'tandem_refreshes_total',
    help: 'Genuine refresh tokens that were presented, by what became of them.',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of OUTCOMES) refreshes.inc({ outcome }, 0);
  return {
    /** @param duration milliseconds. */
    observeRequest: (route: string, status: number, duration: number): void =>
      requests.observe({ route, status }, duration / 1000),
    observeUnreadable: (status: number): void => unreadable.inc({ status }),
    observeRefresh: (outcome: string): void => refreshes.inc({ outcome }),
    watch: (readings: Readings): void => watch(readings, registers),
    contentType: registry.contentType,
    /** The exposition format. */
    text: (): Promise<string> => registry.metrics(),
  };
};

export type PrometheusMetrics = ReturnType<typeof prometheusMetrics>;

const watch = (readings: Readings, registers: Registry[]): void => {
  new Gauge({
    name: 'tandem_password_hashes',
    help: 'Passwords that are being hashed, and that wait for it.',
    labelNames: ['state'],
    registers,
    collect() {
      for (const [state, count] of Object.entries(readings.passwordHashes())) this.set({ state }, count);
    },
  });
  new Gauge({
    name: 'tandem_database_connections',
    help: 'Connections of the pool, and requests that wait for one.',
    labelNames: ['state'],
    registers,
    collect() {
      for (const [state, count] of Object.entries(readings.databaseConnections() ?? {})) this.set({ state }, count);
    },
  });
  new Gauge({
    name: 'tandem_rate_limit_mode',
    help: 'Who counts for the rate limits: 1 for the one that does.',
    labelNames: ['mode'],
    registers,
    collect() {
      for (const mode of MODES) this.set({ mode }, readings.rateLimits() === mode ? 1 : 0);
    },
  });
};
