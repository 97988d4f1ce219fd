export type { McpServerConfig, McpTransportConfig } from './config.js';
export { canonicalMcpName, mcpToolName } from './names.js';
export { createSdkMcpServer, tool } from './sdk-server.js';
export { collectServers, type McpSourcesOptions } from './sources.js';
