import * as runtime from 'react/jsx-runtime';

// React's runtime is CommonJS, so the bundler writes each element as `(0, runtime.jsx)(…)`. A name of its own is read once, and short.
export const { Fragment, jsx, jsxs } = runtime;
