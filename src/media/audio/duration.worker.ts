import { parseBlob, parseBuffer } from 'music-metadata'
import { answerTasks } from '../../kernel/worker-pool'

/** `mimeType` is the container: the library does not know every brand of MP4 by its bytes. */
export type DurationInput = { path: string; mimeType: string } | { bytes: Uint8Array; mimeType: string }
/** Null seconds: it cannot be told. `isSilent`: there is certainly no sound in it. */
export type DurationAnswer = { seconds: number | null; isSilent: boolean }

// Recordings are untrusted and reading them needs no network, so `fetch` is removed.
Reflect.deleteProperty(globalThis, 'fetch')

/** A container that the parser does not know is not broken. */
function unknown(error: Error): DurationAnswer {
  if (error.name !== 'UnsupportedFileTypeError') throw error
  return { seconds: null, isSilent: false }
}

async function measured(input: DurationInput): Promise<DurationAnswer> {
  const options = { duration: true, skipCovers: true, skipPostHeaders: true }
  const { format } =
    'path' in input
      ? await parseBlob(Bun.file(input.path, { type: input.mimeType }), options)
      : await parseBuffer(input.bytes, { mimeType: input.mimeType }, options)
  const { duration, hasAudio, codec } = format
  const isMeasured = duration !== undefined && Number.isFinite(duration) && duration >= 0
  return { seconds: isMeasured ? duration : null, isSilent: hasAudio === false || !codec }
}

answerTasks((input: DurationInput) => measured(input).catch(unknown))
