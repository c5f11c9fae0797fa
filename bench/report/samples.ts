/** What is measured of every system, in the order of the report's columns. */
export const METRICS = {
  register: { title: 'register/s', digits: 1 },
  logIn16: { title: 'log-in/s @16', digits: 1 },
  logIn64: { title: 'log-in/s @64', digits: 1 },
  refresh: { title: 'refresh/s @64, one core', digits: 0 },
  session: { title: 'session/s @64, one core', digits: 0 },
  me: { title: 'me/s @64, one core', digits: 0 },
  refreshCpu: { title: 'CPU of a refresh, ms', digits: 3 },
  sessionCpu: { title: 'of a session, ms', digits: 3 },
  meCpu: { title: 'of a me, ms', digits: 3 },
  floodRefresh: { title: 'flood: refresh p99, ms', digits: 1 },
  floodGuarded: { title: 'flood: guarded p99, ms', digits: 1 },
  floodLogIn: { title: 'flood: log-in/s', digits: 1 },
  firstAnswer: { title: 'first answer, s', digits: 2 },
  memoryIdle: { title: 'MiB idle', digits: 0 },
  memoryAfter: { title: 'MiB after', digits: 0 },
} as const;

export type Metric = keyof typeof METRICS;
/** Keeps a sample of a system. */
export type RecordSample = (system: string, metric: Metric, value: number) => void;

/** The samples of a run by system and metric: one a round, or one a turn. */
export const newSamples = () => {
  const samples = new Map<string, number[]>();
  const of = (system: string, metric: Metric): readonly number[] => samples.get(`${system} ${metric}`) ?? [];
  return {
    add: (system: string, metric: Metric, value: number): void => {
      samples.set(`${system} ${metric}`, [...of(system, metric), value]);
    },
    of,
    areThere: (): boolean => samples.size > 0,
  };
};

export type Samples = ReturnType<typeof newSamples>;
