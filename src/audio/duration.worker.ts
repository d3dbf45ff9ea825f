import { parseBuffer, parseFile } from 'music-metadata'
import { LOADED, type WorkerReply } from '../kernel/worker-pool'

export type DurationOrder = { path: string } | { mp3: Uint8Array }
/** Null seconds: it cannot be told. `isSilent`: there is certainly no sound in it. */
export type DurationAnswer = { seconds: number | null; isSilent: boolean }

declare const self: Worker

// Recordings are untrusted and reading them needs no network, so `fetch` is removed.
Reflect.deleteProperty(globalThis, 'fetch')

self.onmessage = async ({ data }: MessageEvent<DurationOrder>) => {
  let reply: WorkerReply<DurationAnswer>
  try {
    reply = { ok: true, answer: await measured(data) }
  } catch (error) {
    // A container that the parser does not know is not broken.
    const isUnknown = (error as Error).name === 'UnsupportedFileTypeError'
    reply = isUnknown ? { ok: true, answer: { seconds: null, isSilent: false } } : { ok: false, problem: String(error) }
  }
  self.postMessage(reply)
}

async function measured(order: DurationOrder): Promise<DurationAnswer> {
  const options = { duration: true, skipCovers: true, skipPostHeaders: true }
  const { format } =
    'path' in order
      ? await parseFile(order.path, options)
      : await parseBuffer(order.mp3, { mimeType: 'audio/mpeg' }, options)
  const { duration, hasAudio, codec } = format
  const isMeasured = duration !== undefined && Number.isFinite(duration) && duration >= 0
  return { seconds: isMeasured ? duration : null, isSilent: hasAudio === false || !codec }
}

self.postMessage(LOADED)
