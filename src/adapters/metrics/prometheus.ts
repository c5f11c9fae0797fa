import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Values that are read on each scrape. */
export type Readings = {
  readonly passwordHashes: () => Readonly<Record<'running' | 'waiting', number>>;
  /** `null` without a pool: the embedded database has one connection. */
  readonly databaseConnections: () => Readonly<Record<'used' | 'idle' | 'waiting', number>> | null;
  /** `null` without a pool. */
  readonly maxDatabaseConnections: number | null;
  readonly rateLimits: () => RateLimitMode;
  /** `null` without Redis. */
  readonly isRedisUp: (() => Promise<boolean>) | null;
  /** Whether requests should be sent to this instance. */
  readonly isReady: () => Promise<boolean>;
  /** `null` without mail. */
  readonly waitingMail: (() => WaitingMail) | null;
};

/** How many messages wait to be sent, and for how many seconds the oldest has waited. */
export type WaitingMail = { readonly count: number; readonly seconds: number };

/** Where requests are counted: in this process, in Redis for all instances, or not reliably for all: Redis is unavailable, or evicts counts. */
export type RateLimitMode = (typeof MODES)[number];
const MODES = ['process', 'shared', 'degraded'] as const;

/** Exported as 0 from the start, so that the first reuse of a token is an increase. */
const OUTCOMES = ['rotated', 'recovered', 'replayable', 'raced', 'unproven', 'reused', 'ended'] as const;

/** The outcomes of attempts to send a message. */
const MAIL_OUTCOMES = ['sent', 'refused', 'failed', 'given-up'] as const;

/** What this process counts itself while Redis is unavailable. */
const COUNTED = ['requests', 'log-ins'] as const;

/** Seconds. */
const LATENCY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3, 10, 30];

/**
 * The service's metrics for Prometheus. Labels are names of routes, statuses and outcomes: a client can't create new ones.
 * @param version of the service
 */
export const prometheusMetrics = (version: string) => {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'tandem_build_info',
    help: 'The version of the service: always 1.',
    labelNames: ['version'],
    registers,
  }).set({ version }, 1);
  const requests = new Histogram({
    name: 'tandem_http_request_duration_seconds',
    help: 'Duration of requests since their arrival, by route and status.',
    labelNames: ['route', 'status'],
    buckets: LATENCY_BUCKETS,
    registers,
  });
  const unreadable = new Counter({
    name: 'tandem_http_unreadable_requests_total',
    help: 'Responses to what is not HTTP or did not arrive in time, by status.',
    labelNames: ['status'],
    registers,
  });
  const refreshes = new Counter({
    name: 'tandem_refreshes_total',
    help: 'Refreshes with a verified token, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of OUTCOMES) refreshes.inc({ outcome }, 0);
  const mail = new Counter({
    name: 'tandem_mail_attempts_total',
    help: 'Attempts to send a mail, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of MAIL_OUTCOMES) mail.inc({ outcome }, 0);
  const fallbacks = new Counter({
    name: 'tandem_redis_fallbacks_total',
    help: 'Counts that this instance made for itself because Redis is unavailable, by what was counted.',
    labelNames: ['counted'],
    registers,
  });
  for (const counted of COUNTED) fallbacks.inc({ counted }, 0);
  return {
    /** @param duration milliseconds. */
    observeRequest: (route: string, status: number, duration: number): void =>
      requests.observe({ route, status }, duration / 1000),
    observeUnreadable: (status: number): void => unreadable.inc({ status }),
    observeRefresh: (outcome: string): void => refreshes.inc({ outcome }),
    observeMail: (outcome: (typeof MAIL_OUTCOMES)[number]): void => mail.inc({ outcome }),
    observeFallback: (counted: (typeof COUNTED)[number]): void => fallbacks.inc({ counted }),
    watch: (readings: Readings): void => watch(readings, registers),
    contentType: registry.contentType,
    /** In the exposition format. */
    text: (): Promise<string> => registry.metrics(),
  };
};

export type PrometheusMetrics = ReturnType<typeof prometheusMetrics>;

const watch = (readings: Readings, registers: Registry[]): void => {
  new Gauge({
    name: 'tandem_password_hashes',
    help: 'Passwords that are being hashed, and that are waiting.',
    labelNames: ['state'],
    registers,
    collect() {
      for (const [state, count] of Object.entries(readings.passwordHashes())) this.set({ state }, count);
    },
  });
  new Gauge({
    name: 'tandem_database_connections',
    help: 'Connections of the pool, and requests that are waiting for one.',
    labelNames: ['state'],
    registers,
    collect() {
      for (const [state, count] of Object.entries(readings.databaseConnections() ?? {})) this.set({ state }, count);
    },
  });
  if (readings.maxDatabaseConnections !== null) {
    new Gauge({
      name: 'tandem_database_connections_max',
      help: 'The most connections that the pool opens.',
      registers,
    }).set(readings.maxDatabaseConnections);
  }
  new Gauge({
    name: 'tandem_ready',
    help: 'Whether requests should be sent to this instance, as GET /health/ready responds: 1 or 0.',
    registers,
    async collect() {
      this.set(Number(await readings.isReady()));
    },
  });
  new Gauge({
    name: 'tandem_rate_limit_mode',
    help: 'Where requests are counted for the rate limits: 1 for the current mode.',
    labelNames: ['mode'],
    registers,
    collect() {
      for (const mode of MODES) this.set({ mode }, readings.rateLimits() === mode ? 1 : 0);
    },
  });
  if (readings.isRedisUp !== null) watchRedis(readings.isRedisUp, registers);
  if (readings.waitingMail !== null) watchMail(readings.waitingMail, registers);
};

const watchRedis = (isUp: () => Promise<boolean>, registers: Registry[]): void => {
  new Gauge({
    name: 'tandem_redis_up',
    help: 'Whether the check `redis` of GET /health/ready is up: 1 or 0.',
    registers,
    async collect() {
      this.set(Number(await isUp()));
    },
  });
};

const watchMail = (waiting: () => WaitingMail, registers: Registry[]): void => {
  new Gauge({
    name: 'tandem_mail_waiting',
    help: 'Messages that wait to be sent.',
    registers,
    collect() {
      this.set(waiting().count);
    },
  });
  new Gauge({
    name: 'tandem_mail_waiting_seconds',
    help: 'How long the oldest message has been waiting.',
    registers,
    collect() {
      this.set(waiting().seconds);
    },
  });
};
