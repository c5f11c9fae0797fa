import { defineConfig } from 'vitest/config';
import './test/support/servers/provided.ts';

/**
 * `npm test` runs the projects whose names do not begin with `rest`: all that SPEC promises, in minutes. `npm run test:rest` runs the others.
 * A test file belongs to the first list below that names it; CONTRIBUTING.md says what each project is for.
 */
const CORE = [
  'test/domain/**/*.test.ts',
  'test/application/**/*.test.ts',
  'test/contracts/**/*.test.ts',
  'test/simulation/**/*.test.ts',
];
const HTTP = [
  'test/http/**/*.test.ts',
  'test/architecture/**/*.test.ts',
  'test/attacks/**/*.test.ts',
  'test/client/**/*.test.ts',
  'test/console/**/*.test.ts',
  'test/process/{refusal,restart}.test.ts',
];
const ADAPTERS = [
  'test/adapters/**/*.test.ts',
  'test/infrastructure/{config,revision}.test.ts',
  'test/infrastructure/{config,http-server,keys,logging}/**/*.test.ts',
];
const WALK = ['test/browser/client.test.ts'];
/** The files of `npm test`. */
export const NPM_TEST = [...CORE, ...HTTP, ...ADAPTERS, ...WALK];

const PROCESSES = ['test/{process,conformance}/**/*.test.ts'];
const BROWSER = ['test/browser/**/*.test.ts'];

/** Whole flows, and what is counted in Redis: they also run on real servers. The repositories have contracts for the rest. */
const OF_STORES = [
  'test/http/{delete-account,device-binding,login,login-by-code,password-reset,refresh,register,sessions,webhooks}.test.ts',
  'test/http/stages/rate-limit.test.ts',
];
/** Those that a pooler can break: by transactions, by statements that are prepared, by what is left in a session of PostgreSQL. */
const BEHIND_POOLER = ['test/http/{login,password-reset,refresh,register,sessions}.test.ts'];

const RUN_DIRECTORY = 'test/support/storage/run-directory.ts';
const SERVERS = [RUN_DIRECTORY, 'test/support/servers/global-setup.ts'];
const CHROMIUM = [RUN_DIRECTORY, 'test/support/browser/global-setup.ts'];

type Project = {
  readonly name: string;
  readonly include: string[];
  readonly exclude?: string[];
  /** The storage of services under test. */
  readonly parts: 'embedded' | 'real' | 'pooled';
  readonly globalSetup: string | string[];
  readonly isolate?: true;
};
const project = ({ parts, ...test }: Project) => ({
  extends: true as const,
  test: {
    ...test,
    provide: { parts },
    ...(['real', 'pooled'].includes(parts) && { runner: 'test/support/servers/runner.ts' }),
  },
});

export default defineConfig({
  test: {
    maxWorkers: 2,
    // The files of a worker share modules, which are slow to load, and browsers. Those of processes are few and long.
    isolate: false,
    setupFiles: 'test/support/setup.ts',
    projects: [
      { extends: true, test: { name: 'core', include: CORE } },
      project({ name: 'http', include: HTTP, parts: 'embedded', globalSetup: RUN_DIRECTORY }),
      project({ name: 'adapters', include: ADAPTERS, parts: 'real', globalSetup: SERVERS }),
      project({ name: 'walk', include: WALK, parts: 'embedded', globalSetup: CHROMIUM }),
      project({
        name: 'rest-processes',
        include: PROCESSES,
        exclude: [...CORE, ...HTTP],
        parts: 'embedded',
        globalSetup: RUN_DIRECTORY,
        isolate: true,
      }),
      project({
        name: 'rest-servers',
        include: ['test/**/*.test.ts'],
        exclude: [...CORE, ...HTTP, ...ADAPTERS, ...PROCESSES, ...BROWSER],
        parts: 'real',
        globalSetup: SERVERS,
      }),
      project({ name: 'rest-http', include: OF_STORES, parts: 'real', globalSetup: SERVERS }),
      project({ name: 'rest-pooled', include: BEHIND_POOLER, parts: 'pooled', globalSetup: SERVERS }),
      project({ name: 'rest-browser', include: BROWSER, exclude: WALK, parts: 'embedded', globalSetup: CHROMIUM }),
    ],
    // Time-outs only catch hangs: they leave time for a machine that is busy with something else.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
