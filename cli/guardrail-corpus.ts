import { PHASES, type Phase } from '../src/guardrails/schema'
import { usageFailure } from './failure'

const OUTCOMES = ['block', 'redact', 'flag', 'pass']

/** One text of a corpus, and what a policy should make of it. */
export type CorpusCase = { line: number; text: string; phase: Phase; expected: string; tool?: string }

/** Cases of JSON Lines; empty lines and lines that begin with # are passed over. @throws CommandFailed 2 */
export function readCorpus(content: string, file: string): CorpusCase[] {
  const lines = content.split('\n')
  const cases = lines.flatMap((text, place) => (/^\s*(#|$)/.test(text) ? [] : [readCase(text, place + 1, file)]))
  if (!cases.length) throw usageFailure(`${file} holds no case.`)
  return cases
}

function readCase(content: string, line: number, file: string): CorpusCase {
  const { text, phase = 'input', expected, tool } = parsed(content)
  const isKnown = PHASES.includes(phase as Phase) && OUTCOMES.includes(expected as string)
  if (typeof text !== 'string' || !isKnown) {
    throw usageFailure(`Line ${line} of ${file} is no {"text":"…","phase":"input","expected":"${OUTCOMES.join('|')}"}.`)
  }
  const named = typeof tool === 'string' ? { tool } : {}
  return { line, text, phase: phase as Phase, expected: expected as string, ...named }
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
