import { fileTypeFromFile } from 'file-type'
import { SPEECH_FORMATS, type SpeechFormat } from '../../engines'
import { createWorkerPool, WorkerFailure } from '../../kernel/worker-pool'
import { notARecording } from '../errors'
import type { DurationAnswer, DurationInput } from './duration.worker.ts'

/** What the bytes of a recording are, and the filename for the transcriber. */
export type Recording = { mimeType: string; filename: string; seconds: number | null }

/**
 * The types of docs/api.md 6 by their bytes, with the name and type for the transcriber. A video counts by its audio.
 * The brand of an MP4 does not tell its content, because phones write audio as 3GP and QuickTime.
 */
const TYPES = [
  { mimeType: 'audio/mpeg', extension: 'mp3', marks: ['audio/mpeg'] },
  { mimeType: 'audio/mp4', extension: 'm4a', marks: ['audio/mp4', 'audio/x-m4a', 'video/3gpp', 'video/3gpp2'] },
  { mimeType: 'video/mp4', extension: 'mp4', marks: ['video/mp4', 'video/x-m4v', 'video/quicktime'] },
  { mimeType: 'audio/wav', extension: 'wav', marks: ['audio/wav'] },
  { mimeType: 'audio/webm', extension: 'webm', marks: ['audio/webm', 'video/webm'] },
  { mimeType: 'audio/ogg', extension: 'ogg', marks: ['audio/ogg', 'video/ogg', 'application/ogg'] },
  { mimeType: 'video/mpeg', extension: 'mpeg', marks: ['video/mpeg', 'video/mp1s', 'video/mp2p'] },
]
const MEASURE_MS = 10_000
const PCM_BYTES_A_SECOND = 48_000

/** Inspects recordings in a process, because untrusted files may be slow to read or crash the parser. */
export function createRecordings() {
  const pool = createWorkerPool<DurationInput, DurationAnswer>({
    script: new URL('./duration.worker.ts', import.meta.url),
    max: 2,
    idleMs: 30_000,
    memoryBytes: 384 * 1024 * 1024,
  })
  const measure = (input: DurationInput, signal: AbortSignal, who: string): Promise<DurationAnswer> =>
    pool.run(input, { timeoutMs: MEASURE_MS, signal, who })

  return {
    /**
     * The type of a file by its bytes, and its duration, or null if unknown. Throws 415 `unsupported_media_type` for
     * anything but a recording, whatever its name.
     */
    async look(path: string, signal: AbortSignal, who: string): Promise<Recording> {
      const [found = ''] = (await fileTypeFromFile(path))?.mime.split(';') ?? []
      const type = TYPES.find(({ marks }) => marks.includes(found.toLowerCase()))
      if (!type) throw notARecording(found || 'of an unknown type')
      const { seconds, isSilent } = await measure({ path, mimeType: type.mimeType }, signal, who).catch(broken)
      if (isSilent) throw notARecording(`${found} without sound`)
      return { mimeType: type.mimeType, filename: `recording.${type.extension}`, seconds }
    },

    /** The duration of a speech in seconds, or 0 if unknown. */
    async secondsOf(bytes: Uint8Array, format: SpeechFormat, signal: AbortSignal, who: string): Promise<number> {
      if (format === 'pcm') return bytes.length / PCM_BYTES_A_SECOND
      return (await measure({ bytes, mimeType: SPEECH_FORMATS[format] }, signal, who).catch(unknown)).seconds ?? 0
    },
  }
}

/** A file that cannot be read here may still be readable by the transcriber. */
function unknown(error: unknown): DurationAnswer {
  if (!(error instanceof WorkerFailure)) throw error
  return { seconds: null, isSilent: false }
}

function broken(error: unknown): DurationAnswer {
  if (error instanceof WorkerFailure && error.kind === 'failed') throw notARecording('broken, or not a recording')
  return unknown(error)
}
