import { closeSync, openSync, readSync } from 'node:fs'
import { createMp3Encoder } from 'wasm-media-encoders'
import { answerTasks } from '../../kernel/worker-pool'
import { createStretcher } from './stretch'

/** A WAV file with one channel and 16 bits, and the factor that its duration is multiplied by. */
export type Mp3Input = { path: string; stretch: number }
export type Mp3Answer = { mp3: Uint8Array; seconds: number }

const HEADER_BYTES = 44
const PIECE_SAMPLES = 65_536
/** In kbit/s for one channel of speech at 22 kHz. */
const BITRATE = 64

async function encoded({ path, stretch }: Mp3Input): Promise<Mp3Answer> {
  const file = openSync(path, 'r')
  try {
    const rate = rateOf(file)
    const encoder = await createMp3Encoder()
    encoder.configure({ sampleRate: rate, channels: 1, bitrate: BITRATE })
    const stretcher = createStretcher(stretch, rate)
    const pieces: Uint8Array[] = []
    let samples = 0
    const encode = (sound: Float32Array) => {
      samples += sound.length
      // The encoder reuses its memory, so the output is copied.
      pieces.push(encoder.encode([sound]).slice())
    }
    for (const sound of soundOf(file)) encode(stretcher.push(sound))
    encode(stretcher.end())
    pieces.push(encoder.finalize().slice())
    return { mp3: Uint8Array.from(Buffer.concat(pieces)), seconds: samples / rate }
  } finally {
    closeSync(file)
  }
}

function rateOf(file: number): number {
  const header = Buffer.alloc(HEADER_BYTES)
  const read = readSync(file, header, 0, HEADER_BYTES, 0)
  const isMono16 = read === HEADER_BYTES && header.readUInt16LE(22) === 1 && header.readUInt16LE(34) === 16
  if (!isMono16 || header.toString('latin1', 0, 4) !== 'RIFF') throw new Error('the program wrote no sound')
  return header.readUInt32LE(24)
}

/**
 * The samples after the header, −1 to 1. Ignores the length in the header, because a program that writes to a pipe
 * cannot know it.
 */
function* soundOf(file: number): Generator<Float32Array> {
  const piece = new Int16Array(PIECE_SAMPLES)
  for (let at = HEADER_BYTES; ; ) {
    const read = readSync(file, piece, 0, piece.byteLength, at)
    if (read < 2) return
    at += read
    yield Float32Array.from(piece.subarray(0, read >> 1), (sample) => sample / 32_768)
  }
}

answerTasks(encoded)
