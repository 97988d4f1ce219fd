import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import layouts from './src/layouts.json' with { type: 'json' };

// Whoever builds it (a test runner has its own NODE_ENV), the page gets React as it is shipped.
process.env.NODE_ENV = 'production';

const here = fileURLToPath(new URL('.', import.meta.url));

/** Puts the positions of the library's own machines into the HTML: they are data, so the browser need not compile them. */
const shippedLayouts: Plugin = {
  name: 'shipped-layouts',
  transformIndexHtml: () => [
    { tag: 'script', attrs: { type: 'application/json', id: 'layouts' }, children: JSON.stringify(layouts), injectTo: 'body' },
  ],
};

/**
 * One script and one stylesheet with relative addresses, so that the page works under any path and can be inlined into a
 * one-file HTML. The layout engine is no part of it: the server hands it out from its own package when a page asks for it.
 */
export default defineConfig({
  root: here,
  base: './',
  plugins: [react({ jsxImportSource: 'own' }), shippedLayouts],
  resolve: { alias: { 'own/jsx-runtime': `${here}src/ui/jsxRuntime.ts` } },
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
