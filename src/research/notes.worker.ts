import { answerTasks } from '../kernel/worker-pool'
import { indexesOfCopies } from './differences'
import { type Reading, readSources, type SourceText } from './notes'

export type ReadingOrder = { question: string; sources: readonly SourceText[]; maxNotes: number; maxOfSource: number }
/** For each text, the index of the first one that it copies, or null. */
export type CopiesInput = { texts: readonly string[] }
export type Copies = { copyOf: (number | null)[] }

answerTasks((input: ReadingOrder | CopiesInput): Reading | Copies =>
  'texts' in input ? { copyOf: indexesOfCopies(input.texts) } : readSources(input),
)
