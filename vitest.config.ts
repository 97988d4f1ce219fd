import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  // Examples import the package by name, as its users do; tests run them on the source.
  resolve: {
    alias: [
      { find: /^sixgates$/, replacement: source('./src/index.ts') },
      { find: /^sixgates\/machines$/, replacement: source('./src/machines.ts') },
      { find: /^sixgates\/testing$/, replacement: source('./src/testing/index.ts') },
      { find: /^sixgates\/testing\/vitest$/, replacement: source('./src/testing/vitest.ts') },
      { find: /^sixgates\/testing\/node$/, replacement: source('./src/testing/node.ts') },
      { find: /^sixgates\/inspect$/, replacement: source('./src/inspect/index.ts') },
      { find: /^sixgates\/restate$/, replacement: source('./src/durable/index.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/bench/**'],
    globalSetup: ['test/support/globalSetup.ts'],
    testTimeout: 180_000,
    hookTimeout: 300_000,
    // What is waited for comes when it comes: a second is not enough on a machine with other work.
    expect: { poll: { timeout: 60_000, interval: 20 } },
    maxWorkers: 2,
  },
});
