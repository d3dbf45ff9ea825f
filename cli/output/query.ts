import { usageFailure } from '../failure'
import type { Format } from './print'

/** What becomes of an answer, as its JSON has it. */
export type Query = (answer: unknown) => unknown

const FORMATS: readonly Format[] = ['table', 'wide', 'json', 'jsonl', 'yaml']

/**
 * Reads `--query`, an expression of JMESPath. @throws CommandFailed 2 for one that cannot be read, and for a format
 * that has no place for what it makes
 */
export async function readQuery(expression: string, format: Format): Promise<Query> {
  if (!FORMATS.includes(format)) {
    throw usageFailure(`--query prints values, but -o ${format} needs records.`, '-o json, jsonl or yaml')
  }
  const { compile, TreeInterpreter } = await import('@jmespath-community/jmespath')
  const explained = <T>(attempt: () => T): T => {
    try {
      return attempt()
    } catch (error) {
      throw usageFailure(`--query cannot be read: ${(error as Error).message.replace(/\.$/, '')}.`)
    }
  }
  const read = explained(() => compile(expression))
  return (answer) => explained(() => TreeInterpreter.search(read, JSON.parse(JSON.stringify(answer))))
}
