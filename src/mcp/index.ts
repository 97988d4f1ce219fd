export type { McpServerConfig, McpTransportConfig } from './config.js';
export { canonicalMcpName, mcpToolName } from './names.js';
export { createSdkMcpServer, type SdkMcpServerOptions, type SdkMcpToolDefinition, tool } from './sdk-server.js';
export type { McpServerStatus } from './servers.js';
export { collectServers, type McpSourcesOptions } from './sources.js';
