import { parseBlob } from 'music-metadata'
import { answerTasks } from '../../kernel/worker-pool'

/**
 * `mimeType` is the container, because the library does not recognise every MP4 brand by its bytes. `from` is the
 * position of its first byte.
 */
export type DurationInput = FileInput | { bytes: Uint8Array; mimeType: string }
type FileInput = { path: string; from: number; mimeType: string }
/** `seconds` is null if unknown. `isSilent` means that there is certainly no audio. */
export type DurationAnswer = { seconds: number | null; isSilent: boolean }

// Recordings are untrusted and reading them needs no network, so `fetch` is removed.
Reflect.deleteProperty(globalThis, 'fetch')

/** ADPCM of Microsoft and of IMA, which state the samples of a block. */
const ADPCM = new Set([0x02, 0x11])
/** Most parts of a WAV before its samples. */
const MAX_PARTS = 1_000

/**
 * The duration of a WAV, RF64 or BW64 by the bytes of its samples. A program that streams, or was stopped, leaves
 * other sizes in its head, mostly zero or the largest number, and transcribers read such a file to its end.
 */
async function durationOfWav(content: Blob): Promise<DurationAnswer> {
  let bytesASecond = 0
  for (let at = 12, part = 0; at + 8 <= content.size && part < MAX_PARTS; part++) {
    const head = Buffer.from(await content.slice(at, at + 28).arrayBuffer())
    const [name, size] = [head.toString('latin1', 0, 4), head.readUInt32LE(4)]
    const rest = content.size - at - 8
    if (name === 'fmt ' && head.length === 28) {
      const samples = head.readUInt16LE(26)
      // The rate that ADPCM states is often that of the samples it was made from.
      const isAdpcm = ADPCM.has(head.readUInt16LE(8)) && samples > 0
      bytesASecond = isAdpcm ? (head.readUInt16LE(20) * head.readUInt32LE(12)) / samples : head.readUInt32LE(16)
    }
    if (name === 'data') {
      const bytes = size > 0 && size < rest ? size : rest
      return { seconds: bytesASecond ? bytes / bytesASecond : null, isSilent: bytes + bytesASecond === 0 }
    }
    at += 8 + size + (size % 2)
  }
  return { seconds: null, isSilent: true }
}

/** Ids of elements of WebM (RFC 9559): a cluster, its time, a group of blocks, and blocks. */
const CLUSTER = Buffer.from('1f43b675', 'hex')
const [TIME, GROUP, BLOCKS] = [0xe7, 0xa0, [0xa1, 0xa3]]

/** The time of the last block of a WebM, because browsers record without a duration. Null without a block. */
function lastTimeIn(bytes: Buffer): number | null {
  let at = bytes.lastIndexOf(CLUSTER)
  if (at < 0) return null
  at += CLUSTER.length
  const number = (): number => {
    const length = Math.clz32(bytes[at]!) - 23
    const value = length <= 6 ? bytes.readUIntBE(at, length) % 2 ** (7 * length) : 0
    at += length
    return value
  }
  number()
  let [start, last] = [0, -1]
  while (at + 16 <= bytes.length) {
    const id = bytes[at++]!
    const size = number()
    if (id === GROUP) continue
    if (id === TIME && size > 0 && size <= 6) start = bytes.readUIntBE(at, size)
    // Behind the number of its track, which has one byte.
    if (BLOCKS.includes(id)) last = start + bytes.readInt16BE(at + 1)
    at += size
  }
  return last < 0 ? null : last / 1_000
}

/** A container that the parser does not know is not necessarily broken. */
function unknown(error: Error): DurationAnswer {
  if (error.name !== 'UnsupportedFileTypeError') throw error
  return { seconds: null, isSilent: false }
}

async function measured(input: DurationInput): Promise<DurationAnswer> {
  const { mimeType } = input
  const content =
    'path' in input
      ? Bun.file(input.path).slice(input.from, Bun.file(input.path).size, mimeType)
      : new Blob([input.bytes as Uint8Array<ArrayBuffer>], { type: mimeType })
  if (mimeType === 'audio/wav') return durationOfWav(content)
  const { format } = await parseBlob(content, { duration: true, skipCovers: true, skipPostHeaders: true })
  const { duration = format.trackInfo[0]?.duration, hasAudio } = format
  const isMeasured = duration !== undefined && Number.isFinite(duration) && duration >= 0
  const isStreamed = !isMeasured && mimeType === 'audio/webm'
  const seconds = isStreamed ? lastTimeIn(Buffer.from(await content.arrayBuffer())) : isMeasured ? duration : null
  return { seconds, isSilent: hasAudio === false }
}

answerTasks((input: DurationInput) => measured(input).catch(unknown))
