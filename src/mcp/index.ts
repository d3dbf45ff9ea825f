/** MCP: this server's verbs as tools of agents that speak the Model Context Protocol (contract 23.3). */

export { createMcpServer } from './server'
