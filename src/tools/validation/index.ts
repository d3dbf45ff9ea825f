/** Validates engines' arguments against untrusted JSON schemas. */
export { compileInTurn, isSlow, validatorOf } from './compile'
export { newAllowance, problemsOf, problemsOfResult } from './definition'
export { sizeIfRunOrWritten, withoutForeignPatterns } from './foreign'
export { sizeIfWritten } from './pattern'
