import { defineConfig } from 'vitest/config';

/** For the tests that stand in pages, which find the package installed as their readers do. */
export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    testTimeout: 60_000,
    // They share the library, which takes longer to load than they take to run, and nothing else.
    isolate: false,
    maxWorkers: 1,
  },
});
