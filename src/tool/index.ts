export { anyObjectInput, buildTool, DEFAULT_MAX_RESULT_SIZE_CHARS, type ToolDefinition } from './build.js';
export { ToolAbortedError, ToolFailure, ToolSchemaError } from './errors.js';
export { toolInputJSONSchema } from './input-schema.js';
export { HOST_ARTEFACT_KEYS, type InputRepair, type ParsedToolInput, parseToolInput } from './parse-input.js';
export { assembleToolPool, closeNames, findTool, getAllBaseTools, type ToolPool, type ToolPoolOptions } from './pool.js';
