import { parseBlob, parseBuffer } from 'music-metadata'
import { answerTasks } from '../../kernel/worker-pool'

/**
 * `mimeType` is the container, because the library does not recognise every MP4 brand by its bytes. `from` is the
 * position of its first byte.
 */
export type DurationInput = FileInput | { bytes: Uint8Array; mimeType: string }
type FileInput = { path: string; from: number; mimeType: string }
/** `seconds` is null if unknown. `isSilent` means that there is certainly no audio. */
export type DurationAnswer = { seconds: number | null; isSilent: boolean }

const WAV_HEAD_BYTES = 44

// Recordings are untrusted and reading them needs no network, so `fetch` is removed.
Reflect.deleteProperty(globalThis, 'fetch')

/** RF64 differs from WAV only in its name and in sizes beyond 4 GB. */
const LONG_WAV = /^(?:RF64|BW64)$/

/** The content of a recording: its bytes if it is RF64 or behind other bytes, else the file. */
async function contentOf({ path, from, mimeType }: FileInput): Promise<Blob | Uint8Array> {
  const file = Bun.file(path)
  const isLong = LONG_WAV.test(await file.slice(0, 4).text())
  if (!isLong && from === 0) return Bun.file(path, { type: mimeType })
  const bytes = await file.slice(from).bytes()
  if (isLong) bytes.set(Buffer.from('RIFF'))
  return bytes
}

/** A container that the parser does not know is not necessarily broken. */
function unknown(error: Error): DurationAnswer {
  if (error.name !== 'UnsupportedFileTypeError') throw error
  return { seconds: null, isSilent: false }
}

async function measured(input: DurationInput): Promise<DurationAnswer> {
  const options = { duration: true, skipCovers: true, skipPostHeaders: true }
  const content = 'path' in input ? await contentOf(input) : input.bytes
  const { format } =
    content instanceof Blob
      ? await parseBlob(content, options)
      : await parseBuffer(content, { mimeType: input.mimeType }, options)
  const { duration, hasAudio, codec, container } = format
  const isMeasured = duration !== undefined && Number.isFinite(duration) && duration >= 0
  // A recorder that was stopped leaves sizes of zero in a WAV, which transcribers read to its end.
  const size = 'path' in input ? Bun.file(input.path).size : input.bytes.length
  const isUnfinished = container === 'WAVE' && size > WAV_HEAD_BYTES
  return { seconds: isMeasured ? duration : null, isSilent: hasAudio === false || !(codec || isUnfinished) }
}

answerTasks((input: DurationInput) => measured(input).catch(unknown))
