import { defineConfig } from 'vitest/config';
import './test/support/servers/provided.ts';

const PURE = [
  'test/domain/**/*.test.ts',
  'test/application/**/*.test.ts',
  'test/mutants/**/*.test.ts',
  'test/properties/{configuration,interleavings,replays,tabs}.test.ts',
];
const EMBEDDED = [
  'test/architecture/**/*.test.ts',
  'test/process/**/*.test.ts',
  'test/attacks/**/*.test.ts',
  'test/conformance/**/*.test.ts',
  'test/client/**/*.test.ts',
  'test/console/**/*.test.ts',
  'test/properties/requests.test.ts',
];
const HTTP = ['test/http/**/*.test.ts'];
const BROWSER = ['test/browser/**/*.test.ts'];
const RUN_DIRECTORY = 'test/support/storage/run-directory.ts';

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: 'core', include: PURE, isolate: false } },
      {
        extends: true,
        test: {
          name: 'embedded',
          include: [...EMBEDDED, ...HTTP],
          provide: { parts: 'embedded' },
          globalSetup: RUN_DIRECTORY,
        },
      },
      {
        extends: true,
        test: { name: 'example', include: HTTP, provide: { parts: 'example' }, globalSetup: RUN_DIRECTORY },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: BROWSER,
          provide: { parts: 'embedded' },
          globalSetup: [RUN_DIRECTORY, 'test/support/browser/global-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'pooled',
          include: HTTP,
          provide: { parts: 'pooled' },
          globalSetup: [RUN_DIRECTORY, 'test/support/servers/global-setup.ts'],
          runner: 'test/support/servers/runner.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'real',
          include: ['test/**/*.test.ts'],
          exclude: [...PURE, ...EMBEDDED, ...BROWSER],
          provide: { parts: 'real' },
          globalSetup: [RUN_DIRECTORY, 'test/support/servers/global-setup.ts'],
          runner: 'test/support/servers/runner.ts',
        },
      },
    ],
    // Time-outs only catch hangs: they leave time for a machine that is busy with something else.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
