export type {
  InProcessServer,
  McpFileServerConfig,
  McpHttpServerConfig,
  McpSdkServerConfig,
  McpServerConfig,
  McpStdioServerConfig,
  McpTransportConfig,
} from './config.js';
export { type McpLimits, mcpLimits } from './limits.js';
export { canonicalMcpName, type McpToolIdentity, mcpToolName, normalizeMcpName } from './names.js';
export { createSdkMcpServer, type SdkMcpServerOptions, type SdkMcpToolDefinition, type SdkToolExtras, tool } from './sdk-server.js';
export { type McpServerStatus, McpServers, type McpServersOptions } from './servers.js';
export { collectServers, type McpServerSource, type McpServerSpec, type McpSources, type McpSourcesOptions } from './sources.js';
