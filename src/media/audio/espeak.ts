import { mkdir, open, rm } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import type { SpeechFormat } from '../../engines'
import { randomBase62 } from '../../kernel/crypto'
import { createSemaphore } from '../../kernel/semaphore'
import { createWorkerPool } from '../../kernel/worker-pool'
import { languageOf } from '../../text'
import { LocalSpeechFailure, tooLongToSpeak } from '../errors'
import type { Mp3Answer, Mp3Input } from './mp3.worker.ts'
import { LOCAL_VOICES, type Voice } from './voices'

export type LocalSpeech = { text: string; voice: Voice; speed: number; owner: string; signal: AbortSignal }

type Deps = {
  /** Path of the program. */
  program: string
  /** Folder for the audio between the program and the encoder. */
  folder: string
}

/** Words per minute at speed 1, and the minimum that the program supports. */
const WORDS_A_MINUTE = 170
const MIN_WORDS_A_MINUTE = 80
/** Half an hour of audio, as the program writes it. */
const MAX_WAV_BYTES = 80 * 1024 * 1024
const SPEAK_MS = 30_000
const ENCODE_MS = 60_000
const AT_ONCE = 2

/**
 * Speaks through `espeak-ng`, a separate program installed on the server. It receives the text on standard input,
 * without a shell. The audio goes through a file, so that long audio does not fill the memory.
 */
export function createLocalSpeech({ program, folder }: Deps) {
  const semaphore = createSemaphore(AT_ONCE)
  const encoder = createWorkerPool<Mp3Input, Mp3Answer>({
    script: new URL('./mp3.worker.ts', import.meta.url),
    max: AT_ONCE,
    idleMs: 30_000,
  })

  /** Speaks a text as MP3. Throws 400 when it is too long, {@link LocalSpeechFailure}, and the signal's reason. */
  return async function speak({ text, voice, speed, owner, signal }: LocalSpeech): Promise<Mp3Answer> {
    const leave = await semaphore.enter(owner, signal)
    const path = join(folder, randomBase62(24))
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const words = Math.round(WORDS_A_MINUTE * speed)
      const { variant, pitch, amplitude } = LOCAL_VOICES[voice]
      const language = languageOf(text) ?? 'en'
      const name = `${NAMES[language] ?? language}${variant}`
      const rate = Math.max(words, MIN_WORDS_A_MINUTE)
      const spoken = ['-v', name, '-s', `${rate}`, '-p', `${pitch}`, '-a', `${amplitude}`]
      await written(path, text, ['--stdin', '--stdout', '-b', '1', ...spoken], signal)
      const stretch = Math.max(1, MIN_WORDS_A_MINUTE / words)
      return await encoder.run({ path, stretch }, { timeoutMs: ENCODE_MS, signal, who: owner })
    } finally {
      leave()
      await rm(path, { force: true })
    }
  }

  async function written(path: string, text: string, args: string[], signal: AbortSignal): Promise<void> {
    // The program writes to stdout. Its sound library would leave a folder in `/tmp` and a link in the home directory.
    const env = { PULSE_RUNTIME_PATH: '/dev/null' }
    // Double brackets start the program's phoneme notation. Control characters end its text or are its commands.
    const child = Bun.spawn([program, ...args], {
      stdin: Buffer.from(text.replace(/\[(?=\[)/g, '[ ').replace(/(?!\s)\p{Cc}/gu, ' ')),
      stdout: 'pipe',
      stderr: 'ignore',
      env,
      signal,
      timeout: SPEAK_MS,
      killSignal: 'SIGKILL',
    })
    setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
    const file = await open(path, 'wx', 0o600)
    try {
      let size = 0
      for await (const piece of child.stdout) {
        size += piece.byteLength
        if (size > MAX_WAV_BYTES) throw tooLongToSpeak()
        await file.write(piece)
      }
      const code = await child.exited
      signal.throwIfAborted()
      if (code !== 0) throw new LocalSpeechFailure(`espeak-ng ended with ${child.signalCode ?? code}`)
    } finally {
      child.kill('SIGKILL')
      await file.close()
    }
  }
}

/** ffmpeg arguments by format. */
const WRITES: Record<SpeechFormat, string[]> = {
  mp3: ['-f', 'mp3'],
  wav: ['-f', 'wav', '-ar', '24000', '-ac', '1'],
  opus: ['-c:a', 'libopus', '-f', 'ogg'],
  aac: ['-f', 'adts'],
  flac: ['-f', 'flac'],
  pcm: ['-f', 's16le', '-ar', '24000', '-ac', '1'],
}
const CONVERT_MS = 60_000

/** Converts MP3 speech to other formats with ffmpeg, at most half an hour. */
export function createSpeechConverter({ program, folder }: Deps) {
  const semaphore = createSemaphore(AT_ONCE)

  /** Throws {@link LocalSpeechFailure}, and the signal's reason. */
  return async function convert(
    mp3: Uint8Array,
    format: SpeechFormat,
    owner: string,
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    const leave = await semaphore.enter(owner, signal)
    // Output goes to a file, because the header of some formats contains the length.
    const path = join(folder, randomBase62(24))
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const args = ['-v', 'error', '-f', 'mp3', '-i', 'pipe:0', '-t', '1800', ...WRITES[format], path]
      const limits = { signal, timeout: CONVERT_MS, killSignal: 'SIGKILL' } as const
      const child = Bun.spawn([program, ...args], { stdio: [mp3, 'ignore', 'ignore'], env: {}, ...limits })
      setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
      const code = await child.exited
      signal.throwIfAborted()
      if (code !== 0) throw new LocalSpeechFailure(`ffmpeg ended with ${child.signalCode ?? code}`)
      return await Bun.file(path).bytes()
    } finally {
      leave()
      await rm(path, { force: true })
    }
  }
}

/** Languages with a different name in `espeak-ng`. */
const NAMES: Record<string, string> = { en: 'en-us', zh: 'cmn', no: 'nb', tl: 'en-us' }
