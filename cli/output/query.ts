import { usageFailure } from '../failure'
import type { Format } from './print'

/** Transforms an answer, given in its JSON form. */
export type Query = (answer: unknown) => unknown

const FORMATS: readonly Format[] = ['table', 'wide', 'json', 'jsonl', 'yaml']

/**
 * Parses `--query`, a JMESPath expression. @throws CommandFailed 2 for an invalid expression, and for a format that
 * cannot print its result
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
