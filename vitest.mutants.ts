import { defineConfig } from 'vitest/config';

/** The tests of `npm run mutants`. */
export default defineConfig({
  test: { include: ['test/{domain,application}/**/*.test.ts'], isolate: false, testTimeout: 300_000 },
});
