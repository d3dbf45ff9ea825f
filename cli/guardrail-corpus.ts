import { PHASES, type Phase } from '../src/guardrails/schema'
import { usageFailure } from './failure'
import { casesOf } from './json-lines'

const OUTCOMES = ['block', 'redact', 'flag', 'pass']

/** One text of a corpus and the expected verdict of the policy. */
export type CorpusCase = { line: number; text: string; phase: Phase; expected: string; tool?: string }

/** @throws CommandFailed 2 for a file with an invalid line, or without any cases */
export const readCorpus = (content: string, file: string): CorpusCase[] =>
  casesOf(content, file, (fields, line) => readCase(fields, line, file))

function readCase(fields: Record<string, unknown>, line: number, file: string): CorpusCase {
  const { text, phase = 'input', expected, tool } = fields
  const isKnown = PHASES.includes(phase as Phase) && OUTCOMES.includes(expected as string)
  if (typeof text !== 'string' || !isKnown) {
    throw usageFailure(
      `Line ${line} of ${file} is not {"text":"…","phase":"input","expected":"${OUTCOMES.join('|')}"}.`,
    )
  }
  const named = typeof tool === 'string' ? { tool } : {}
  return { line, text, phase: phase as Phase, expected: expected as string, ...named }
}
