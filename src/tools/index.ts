/** Tools: which ones engines may call, who may use them, and how a call is run. */
export { SEARCH_DRIVERS, toolSettings } from './config'
export { MAX_INLINE_TOOLS } from './rules'
export { createTools, type Tools, type Wanted } from './service'
export { createSystemTools } from './system'
export { type AskedCall, type Tool, type ToolContext, ToolFailure, type ToolOutcome, type Toolset } from './tool'
export {
  newAllowance,
  problemsOf,
  problemsOfResult,
  sizeIfRunOrWritten,
  sizeIfWritten,
  validatorOf,
  withoutForeignPatterns,
} from './validation'
