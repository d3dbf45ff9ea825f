/** Pages that the server shows, the API reference and the MCP endpoint. */

export {
  type Assets,
  type BuiltAssets,
  type BuiltConsole,
  buildAssets,
  buildConsole,
  createAssets,
  createConsoleAssets,
} from './assets'
export { createReference } from './reference/service'
export { savedView } from './resource'
