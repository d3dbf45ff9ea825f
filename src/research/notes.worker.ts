import { LOADED, type WorkerReply } from '../kernel/worker-pool'
import { copiesAmong } from './likeness'
import { type Given, type Reading, readSources } from './notes'

export type ReadingOrder = { question: string; sources: readonly Given[]; mostNotes: number; mostOfSource: number }
/** Of each text, the index of the first one that it copies, or null. */
export type CopiesOrder = { texts: readonly string[] }
export type Copies = { copyOf: (number | null)[] }

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<ReadingOrder | CopiesOrder>) => {
  self.postMessage(read(data))
}

function read(order: ReadingOrder | CopiesOrder): WorkerReply<Reading | Copies> {
  try {
    return { ok: true, answer: 'texts' in order ? { copyOf: copiesAmong(order.texts) } : readSources(order) }
  } catch (error) {
    return { ok: false, problem: String(error) }
  }
}

self.postMessage(LOADED)
