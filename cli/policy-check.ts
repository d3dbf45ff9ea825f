import type { AppError } from '../src/kernel/errors'
import { EXIT } from './exit'
import { CommandFailed, usageFailure } from './failure'
import type { FiledPolicy } from './policy-files'
import { wholeOf } from './policy-plan'

/**
 * Reads all documents as the server would before any is applied, so that nothing is applied by halves.
 * @throws CommandFailed 2, naming every file that is wrong
 */
export async function assertApplicable(filed: readonly FiledPolicy[]): Promise<void> {
  assertOneDefault(filed)
  // Here, because loading the checks takes longer than most commands run.
  const { reviewPolicy } = await import('../src/guardrails/review')
  const { reviewPreference } = await import('../src/routing-preferences/review')
  const found: { code: string; message: string }[] = []
  for (const { file, document } of filed) {
    const review = document.object === 'guardrail_policy' ? reviewPolicy : reviewPreference
    try {
      await review(wholeOf(document))
    } catch (error) {
      if (!isRefusal(error)) throw error
      found.push({ code: error.code, message: `${file}: "${document.name}": ${error.message}` })
    }
  }
  const [first] = found
  if (!first) return
  const message = `${found.map((one) => one.message).join('\n')}\nNothing was changed.`
  throw new CommandFailed({ exitCode: EXIT.usage, code: first.code, message, help: `error ${first.code}` })
}

/** By name: the class itself is loaded with the checks. */
const isRefusal = (error: unknown): error is AppError =>
  error instanceof Error && 'kind' in error && error.kind === 'invalid' && 'code' in error

/** There is one default a kind and scope (contract 12, 13). @throws CommandFailed 2 */
function assertOneDefault(filed: readonly FiledPolicy[]): void {
  const defaults = filed.filter(({ document }) => document.is_default === true)
  for (const ones of Map.groupBy(defaults, ({ document }) => `${document.object} ${document.scope}`).values()) {
    if (ones.length < 2) continue
    const { object, scope } = ones[0]!.document
    const named = ones.map(({ file, document }) => `"${document.name}" in ${file}`).join(' and ')
    throw usageFailure(
      `${named} are each the default ${object} of scope ${scope}. Leave "is_default" out of all but one.`,
    )
  }
}
