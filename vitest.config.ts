import { defineConfig } from 'vitest/config';
import './test/support/servers/provided.ts';

const PURE = [
  'test/domain/**/*.test.ts',
  'test/application/**/*.test.ts',
  'test/properties/{configuration,interleavings,tabs}.test.ts',
];
const EMBEDDED = [
  'test/architecture/**/*.test.ts',
  'test/process/**/*.test.ts',
  'test/attacks/**/*.test.ts',
  'test/properties/requests.test.ts',
];
const HTTP = ['test/http/**/*.test.ts'];
const BROWSER = ['test/browser/**/*.test.ts'];

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: 'core', include: PURE, isolate: false } },
      { extends: true, test: { name: 'embedded', include: [...EMBEDDED, ...HTTP], provide: { parts: 'embedded' } } },
      {
        extends: true,
        test: {
          name: 'browser',
          include: BROWSER,
          provide: { parts: 'embedded' },
          globalSetup: 'test/support/browser/global-setup.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'real',
          include: ['test/**/*.test.ts'],
          exclude: [...PURE, ...EMBEDDED, ...BROWSER],
          provide: { parts: 'real' },
          globalSetup: 'test/support/servers/global-setup.ts',
          runner: 'test/support/servers/runner.ts',
        },
      },
    ],
    // Servers, databases and bcrypt share two cores with each other here; time-outs guard against hangs alone.
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
