/** Validates engines' arguments against untrusted JSON schemas. */
export { compileInTurn, isSlow, validatorOf } from './validation-compile'
export { type Allowance, newAllowance, problemsOf, problemsOfResult } from './validation-definition'
export { sizeIfWritten } from './validation-pattern'
