import type { WorkerReply } from '../kernel/worker-pool'
import { type Given, type Reading, readSources } from './notes'

export type ReadingOrder = { question: string; sources: readonly Given[]; mostNotes: number; mostOfSource: number }

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<ReadingOrder>) => {
  self.postMessage(read(data))
}

function read(order: ReadingOrder): WorkerReply<Reading> {
  try {
    return { ok: true, answer: readSources(order) }
  } catch (error) {
    return { ok: false, problem: String(error) }
  }
}
