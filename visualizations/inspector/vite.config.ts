import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Whoever builds it (a test runner has its own NODE_ENV), the page gets React as it is shipped.
process.env.NODE_ENV = 'production';

const here = fileURLToPath(new URL('.', import.meta.url));

/**
 * One script and one stylesheet with relative addresses, so that the page works under any path and can be inlined into a
 * one-file HTML. The layout engine is the only other file; it is copied as its authors built it and loaded on demand.
 */
export default defineConfig({
  root: here,
  base: './',
  plugins: [react()],
  build: {
    outDir: fileURLToPath(new URL('../../dist/inspector', import.meta.url)),
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: false,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 400,
    rolldownOptions: { output: { codeSplitting: false } },
  },
});
