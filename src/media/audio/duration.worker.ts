import { parseBlob, parseBuffer } from 'music-metadata'
import { answerTasks } from '../../kernel/worker-pool'

/** `mimeType` is the container, because the library does not recognise every MP4 brand by its bytes. */
export type DurationInput = { path: string; mimeType: string } | { bytes: Uint8Array; mimeType: string }
/** `seconds` is null if unknown. `isSilent` means that there is certainly no audio. */
export type DurationAnswer = { seconds: number | null; isSilent: boolean }

const WAV_HEAD_BYTES = 44

// Recordings are untrusted and reading them needs no network, so `fetch` is removed.
Reflect.deleteProperty(globalThis, 'fetch')

/** A container that the parser does not know is not necessarily broken. */
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
  const { duration, hasAudio, codec, container } = format
  const isMeasured = duration !== undefined && Number.isFinite(duration) && duration >= 0
  // A recorder that was stopped leaves sizes of zero in a WAV, which transcribers read to its end.
  const size = 'path' in input ? Bun.file(input.path).size : input.bytes.length
  const isUnfinished = container === 'WAVE' && size > WAV_HEAD_BYTES
  return { seconds: isMeasured ? duration : null, isSilent: hasAudio === false || !(codec || isUnfinished) }
}

answerTasks((input: DurationInput) => measured(input).catch(unknown))
