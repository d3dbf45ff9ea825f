import { answerTasks } from '../kernel/worker-pool'
import { copiesAmong } from './likeness'
import { type Given, type Reading, readSources } from './notes'

export type ReadingOrder = { question: string; sources: readonly Given[]; maxNotes: number; maxOfSource: number }
/** For each text, the index of the first one that it copies, or null. */
export type CopiesInput = { texts: readonly string[] }
export type Copies = { copyOf: (number | null)[] }

answerTasks((input: ReadingOrder | CopiesInput): Reading | Copies =>
  'texts' in input ? { copyOf: copiesAmong(input.texts) } : readSources(input),
)
