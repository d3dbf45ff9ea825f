/** Tools: which ones engines may call, who may use them, and how a call is run. */
export { readEndpoint } from './endpoint'
export { HEADER_NAME, HEADER_VALUE } from './endpoint-rules'
export { createTools, type Tools, type Wanted } from './service'
export { createSystemTools } from './system'
export { type Tool, type ToolContext, ToolFailure } from './tool'
export { newAllowance, problemsOf, problemsOfResult, sizeIfWritten, validatorOf } from './validation'
