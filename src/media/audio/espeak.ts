import { mkdir, open, rm } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import type { SpeechFormat } from '../../engines'
import type { Clock } from '../../kernel/clock'
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
  /** Folder for the sound between the program and the encoder. */
  folder: string
  clock: Pick<Clock, 'after'>
}

/** Words a minute at speed 1; the program itself speaks no slower than the least. */
const WORDS_A_MINUTE = 170
const MIN_WORDS_A_MINUTE = 80
/** Half an hour of sound, as the program writes it. */
const MAX_WAV_BYTES = 80 * 1024 * 1024
const SPEAK_MS = 30_000
const ENCODE_MS = 60_000
const AT_ONCE = 2

/**
 * Speaks through `espeak-ng`, a program of its own that is installed beside the server. It gets the text on its
 * standard input and no shell; the sound goes through a file, so that no length of it fills the memory.
 */
export function createLocalSpeech({ program, folder, clock }: Deps) {
  const semaphore = createSemaphore(AT_ONCE)
  const encoder = createWorkerPool<Mp3Input, Mp3Answer>({
    script: new URL('./mp3.worker.ts', import.meta.url),
    max: AT_ONCE,
    idleMs: 30_000,
  })

  /** The speech as MP3. Throws 400 when it is too long, {@link LocalSpeechFailure}, and the signal's reason. */
  return async function speak({ text, voice, speed, owner, signal }: LocalSpeech): Promise<Mp3Answer> {
    const leave = await semaphore.enter(owner, signal)
    const path = join(folder, randomBase62(24))
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const words = Math.round(WORDS_A_MINUTE * speed)
      const { variant, pitch, amplitude } = LOCAL_VOICES[voice]
      const language = languageOf(text) ?? 'en'
      const name = `${NAMES[language] ?? language}${variant}`
      await written(
        path,
        text,
        [
          '--stdin',
          '--stdout',
          '-b',
          '1',
          '-v',
          name,
          '-s',
          `${Math.max(words, MIN_WORDS_A_MINUTE)}`,
          '-p',
          `${pitch}`,
          '-a',
          `${amplitude}`,
        ],
        signal,
      )
      const stretch = Math.max(1, MIN_WORDS_A_MINUTE / words)
      return await encoder.run({ path, stretch }, { timeoutMs: ENCODE_MS, signal, who: owner })
    } finally {
      leave()
      await rm(path, { force: true })
    }
  }

  async function written(path: string, text: string, args: string[], signal: AbortSignal): Promise<void> {
    // It writes to stdout. The sound library in it would leave a folder in `/tmp` and a link to it at the user's home.
    const env = { PULSE_RUNTIME_PATH: '/dev/null' }
    // The text as it is read aloud: two brackets would begin the program's own spelling of sounds.
    const child = Bun.spawn([program, ...args], {
      stdin: Buffer.from(text.replace(/\[(?=\[)/g, '[ ')),
      stdout: 'pipe',
      stderr: 'ignore',
      env,
    })
    setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
    const end = () => child.kill('SIGKILL')
    const cancel = clock.after(SPEAK_MS, end)
    signal.addEventListener('abort', end, { once: true })
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
      end()
      cancel()
      signal.removeEventListener('abort', end)
      await file.close()
    }
  }
}

/** How ffmpeg writes each format; at most half an hour of it. */
const WRITES: Record<SpeechFormat, string[]> = {
  mp3: ['-f', 'mp3'],
  wav: ['-f', 'wav', '-ar', '24000', '-ac', '1'],
  opus: ['-c:a', 'libopus', '-f', 'ogg'],
  aac: ['-f', 'adts'],
  flac: ['-f', 'flac'],
  pcm: ['-f', 's16le', '-ar', '24000', '-ac', '1'],
}
const CONVERT_MS = 60_000

/** Writes speech in other formats than MP3, through ffmpeg. */
export function createSpeechConverter({ program, folder, clock }: Deps) {
  const semaphore = createSemaphore(AT_ONCE)

  /** Throws {@link LocalSpeechFailure}, and the signal's reason. */
  return async function convert(
    mp3: Uint8Array,
    format: SpeechFormat,
    owner: string,
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    const leave = await semaphore.enter(owner, signal)
    // Into a file, because the head of some formats says how long they are.
    const path = join(folder, randomBase62(24))
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const args = ['-v', 'error', '-f', 'mp3', '-i', 'pipe:0', '-t', '1800', ...WRITES[format], path]
      const child = Bun.spawn([program, ...args], { stdin: mp3, stdout: 'ignore', stderr: 'ignore', env: {} })
      setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
      const end = () => child.kill('SIGKILL')
      const cancel = clock.after(CONVERT_MS, end)
      signal.addEventListener('abort', end, { once: true })
      try {
        const code = await child.exited
        signal.throwIfAborted()
        if (code !== 0) throw new LocalSpeechFailure(`ffmpeg ended with ${child.signalCode ?? code}`)
        return await Bun.file(path).bytes()
      } finally {
        cancel()
        signal.removeEventListener('abort', end)
      }
    } finally {
      leave()
      await rm(path, { force: true })
    }
  }
}

/** The program's own names of languages that it calls otherwise. */
const NAMES: Record<string, string> = { en: 'en-us', zh: 'cmn', no: 'nb', tl: 'en-us' }
