import { invalidInput, quoted } from '../kernel/errors'
import { problemsOf } from '../tools'

/** Throws 400 `validation_error` with the first problem of a client's schema, if it has any. */
export function assertSchema(...about: Parameters<typeof problemsOf>): void {
  const [problem] = problemsOf(...about)
  if (problem) throw invalidInput(problem.path, `"${quoted(problem.path)}" ${problem.message}.`)
}
