import { LOADED, type WorkerReply } from '../kernel/worker-pool'
import { copiesAmong } from './likeness'
import { type Given, type Reading, readSources } from './notes'

export type ReadingOrder = { question: string; sources: readonly Given[]; mostNotes: number; mostOfSource: number }
/** Of each text, the index of the first one that it copies, or null. */
export type CopiesInput = { texts: readonly string[] }
export type Copies = { copyOf: (number | null)[] }

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<ReadingOrder | CopiesInput>) => {
  self.postMessage(read(data))
}

function read(input: ReadingOrder | CopiesInput): WorkerReply<Reading | Copies> {
  try {
    return { ok: true, answer: 'texts' in input ? { copyOf: copiesAmong(input.texts) } : readSources(input) }
  } catch (error) {
    return { ok: false, problem: String(error) }
  }
}

self.postMessage(LOADED)
