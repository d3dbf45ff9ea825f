import type { Clock } from '../../../kernel/clock'
import { parseUntrustedJson } from '../../../kernel/json'
import { evaluate, isTrue, parseExpression, written } from '../../../text'
import { Paused, StepFailure, type StepRunner } from './step'

/** Steps that decide, wait and shape, and reach nothing outside. */
export function createFlowSteps(clock: Clock) {
  const condition: StepRunner<'condition'> = async ({ config, values }) => {
    const result = isTrue(evaluate(parseExpression(config.expression), values))
    return { output: { result }, next: result ? config.onTrue : config.onFalse }
  }

  const delay: StepRunner<'delay'> = async ({ config: { seconds, until } }) => {
    const end = until === undefined ? clock.now() + seconds! * 1_000 : Date.parse(until)
    if (end <= clock.now()) return { output: {} }
    if (end - clock.now() > LONGEST_MS) throw new StepFailure('A delay can be at most 30 days.')
    return new Paused({ kind: 'delay', until: end })
  }

  const approval: StepRunner<'approval'> = async ({ config }) => {
    const { message, approvers, timeout_minutes = 1_440, on_timeout = 'reject' } = config
    return new Paused({
      kind: 'approval',
      until: clock.now() + timeout_minutes * 60_000,
      onTimeout: on_timeout,
      message,
      ...(approvers ? { approvers } : {}),
    })
  }

  const transform: StepRunner<'transform'> = async ({ config }) => ({ output: config.template ?? null })

  const output: StepRunner<'output'> = async ({ config: { format = 'text', template }, previous, values }) => {
    const value = template ?? (values.previous as { output: unknown }).output
    if (format === 'json') return { output: typeof value === 'string' ? parsed(value) : value }
    return { output: template === undefined ? previous : written(value) }
  }

  return { condition, delay, approval, transform, output }
}

const LONGEST_MS = 30 * 86_400_000

/** A text that is JSON as its value, any other as it is. */
function parsed(text: string): unknown {
  try {
    return parseUntrustedJson(Buffer.from(text), { large: 'text' })
  } catch {
    return text
  }
}
