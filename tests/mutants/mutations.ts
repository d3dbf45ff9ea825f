import { Instrumenter } from '@stryker-mutator/instrumenter'
import { storeMutations } from './store-mutations'

/** One small change of a source file. Offsets are of UTF-16 characters; `kind` names the mutator. */
export type Mutation = { file: string; start: number; end: number; by: string; kind: string }

const quiet = () => undefined
const LOG = {
  isTraceEnabled: () => false,
  isDebugEnabled: () => false,
  isInfoEnabled: () => false,
  isWarnEnabled: () => false,
  isErrorEnabled: () => false,
  isFatalEnabled: () => false,
  ...{ trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet, fatal: quiet },
}

const PARSING = { plugins: null, excludedMutations: [], ignorers: [], noHeader: true }

/**
 * Every mutation of a file: Stryker's, and those of `store-mutations` for what Stryker has no word for. Sentences are
 * left alone: the wording of a message is not behaviour.
 */
export async function mutationsOf(file: string, text: string): Promise<Mutation[]> {
  const { mutants } = await new Instrumenter(LOG).instrument([{ name: file, content: text, mutate: true }], PARSING)
  const starts = lineStarts(text)
  const offset = ({ line, column }: { line: number; column: number }) => starts[line]! + column
  const general = mutants.map(({ location, replacement, mutatorName }) => ({
    ...{ file, start: offset(location.start), end: offset(location.end) },
    ...{ by: replacement, kind: mutatorName },
  }))
  return [...general, ...storeMutations(file, text)].filter(
    (mutation) => !isName(mutation) && !isSentence(mutation, text),
  )
}

/** A column without a name takes that of its member; what an index is called is nobody's behaviour. */
const isName = ({ file, kind }: Mutation): boolean => kind === 'StringLiteral' && file.endsWith('/table.ts')

const isSentence = ({ kind, start, end }: Mutation, text: string): boolean =>
  kind === 'StringLiteral' && /\S \S/.test(text.slice(start, end))

const lineStarts = (text: string): number[] => [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]

/** The text with the mutation in it. */
export const mutated = ({ start, end, by }: Mutation, text: string): string =>
  text.slice(0, start) + by + text.slice(end)

/** The line of a mutation, its text, and the change as one reads it. */
export function shown({ start, end, by, kind }: Mutation, text: string) {
  const short = (part: string) => {
    const line = part.replace(/\s+/g, ' ').trim()
    return line.length > 90 ? `${line.slice(0, 60)} … ${line.slice(-25)}` : line
  }
  const line = text.slice(0, start).split('\n').length
  return {
    line,
    at: text.split('\n')[line - 1]!.trim(),
    change: `${short(text.slice(start, end)) || '(nothing)'} -> ${short(by) || '(nothing)'}`,
    kind,
  }
}
