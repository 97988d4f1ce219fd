import { mergeConfig } from 'vitest/config';
import base from '../../vitest.config.js';

/** The project's own settings, for the tests that stand in pages. */
const config = mergeConfig(base, {});
config.test = { ...config.test, include: ['**/*.test.ts'], exclude: ['**/node_modules/**'] };
export default config;
