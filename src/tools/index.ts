/** Tools: the tools that engines may call, the permissions of callers, and the execution of calls. */
export { readEndpoint } from './endpoint'
export { HEADER_NAME, HEADER_VALUE } from './endpoint-rules'
export { createTools, type ToolSelection, type Tools } from './service'
export { createSystemTools } from './system'
export { type Tool, type ToolContext, ToolFailure } from './tool'
export { validatorOf } from './validation-compile'
export { newAllowance, problemsOf, problemsOfResult, withoutEmpty } from './validation-definition'
export { sizeIfWritten } from './validation-pattern'
