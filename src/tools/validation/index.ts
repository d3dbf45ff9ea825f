/** Validates engines' arguments against untrusted JSON schemas. */
export { compileInTurn, isSlow, validatorOf } from './compile'
export { type Allowance, newAllowance, problemsOf, problemsOfResult } from './definition'
export { sizeIfWritten } from './pattern'
