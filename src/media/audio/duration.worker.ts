import { parseBlob, parseBuffer } from 'music-metadata'
import { LOADED, type WorkerReply } from '../../kernel/worker-pool'

/** `mimeType` is the container: the library does not know every brand of MP4 by its bytes. */
export type DurationInput = { path: string; mimeType: string } | { mp3: Uint8Array }
/** Null seconds: it cannot be told. `isSilent`: there is certainly no sound in it. */
export type DurationAnswer = { seconds: number | null; isSilent: boolean }

declare const self: Worker

// Recordings are untrusted and reading them needs no network, so `fetch` is removed.
Reflect.deleteProperty(globalThis, 'fetch')

self.onmessage = async ({ data }: MessageEvent<DurationInput>) => {
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

async function measured(input: DurationInput): Promise<DurationAnswer> {
  const options = { duration: true, skipCovers: true, skipPostHeaders: true }
  const { format } =
    'path' in input
      ? await parseBlob(Bun.file(input.path, { type: input.mimeType }), options)
      : await parseBuffer(input.mp3, { mimeType: 'audio/mpeg' }, options)
  const { duration, hasAudio, codec } = format
  const isMeasured = duration !== undefined && Number.isFinite(duration) && duration >= 0
  return { seconds: isMeasured ? duration : null, isSilent: hasAudio === false || !codec }
}

self.postMessage(LOADED)
