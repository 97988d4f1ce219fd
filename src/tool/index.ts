export { buildTool, type ToolDefinition } from './build.js';
export { ToolAbortedError } from './errors.js';
export { toolInputJSONSchema } from './input-schema.js';
export { parseToolInput } from './parse-input.js';
export { assembleToolPool, closeNames, findTool, getAllBaseTools } from './pool.js';
