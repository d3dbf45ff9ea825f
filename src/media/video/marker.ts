import { mkdir, open, rm } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import type { Draft, Source } from '../../files'
import { GiveUp } from '../../jobs'
import { randomBase62 } from '../../kernel/crypto'
import { createSemaphore } from '../../kernel/semaphore'
import { createWorkerPool, WorkerFailure } from '../../kernel/worker-pool'
import type { MarkInput } from './mark.worker.ts'

type Deps = {
  /** Path of ffmpeg. If null, clips are not marked. */
  program: string | null
  /** Folder for clips in progress. */
  folder: string
}

type Clip = MarkInput & { owner: string; signal: AbortSignal }

type Paths = { before: string; sign: string; after: string }

/** A stored clip, and whether its frames show the mark. */
type Marked = { draft: Draft; isMarked: boolean }

const MARK_MS = 300_000
const DRAW_MS = 20_000
const MAX_SIGNS = 32
const MAX_BYTES = 512 * 1024 * 1024
const TOO_LARGE = 'The engine answered with a video that is too large. Nothing was charged.'
const COMMENT = 'AI-generated'

export type Marker = ReturnType<typeof createMarker>

/**
 * Draws the provenance mark into clips of an upstream (docs/api.md 6), with an installed ffmpeg in a separate process.
 * A clip that ffmpeg cannot read is stored unchanged.
 */
export function createMarker({ program, folder }: Deps) {
  const semaphore = createSemaphore(1)
  const signs = new Map<string, Uint8Array>()
  const drawing = createWorkerPool<MarkInput, Uint8Array>({
    script: new URL('./mark.worker.ts', import.meta.url),
    max: 1,
    idleMs: 1_000,
  })

  /** Stores the clip through `receive`, marked if possible. Throws what `receive` throws, and the signal's reason. */
  return async function mark(
    source: AsyncIterable<Uint8Array>,
    { owner, signal, ...shape }: Clip,
    receive: (bytes: Source) => Promise<Draft>,
  ): Promise<Marked> {
    if (!program) return { draft: await receive(source), isMarked: false }
    const [before, after, sign] = [0, 1, 2].map(() => join(folder, randomBase62(24))) as [string, string, string]
    const leave = await semaphore.enter(owner, signal)
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await written(before, source)
      const isMarked = await drawn(program, { before, sign, after }, { owner, signal, ...shape })
      return { draft: await receive(Bun.file(isMarked ? after : before).stream()), isMarked }
    } finally {
      leave()
      await Promise.all([before, after, sign].map((path) => rm(path, { force: true })))
    }
  }

  async function drawn(path: string, paths: Paths, { owner, signal, ...shape }: Clip): Promise<boolean> {
    try {
      await written(paths.sign, [await signOf(shape, { owner, signal })])
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof WorkerFailure) return false
      throw error
    }
    return ran(path, argumentsOf(paths), signal)
  }

  /** The mark for a clip size, cached because upstreams use few sizes. */
  async function signOf({ width, height }: MarkInput, { owner, signal }: Pick<Clip, 'owner' | 'signal'>) {
    const size = `${width}x${height}`
    const known = signs.get(size)
    if (known) return known
    const sign = await drawing.run({ width, height }, { timeoutMs: DRAW_MS, signal, who: owner })
    if (signs.size >= MAX_SIGNS) signs.clear()
    signs.set(size, sign)
    return sign
  }

  async function ran(path: string, args: string[], signal: AbortSignal): Promise<boolean> {
    const limits = { signal, timeout: MARK_MS, killSignal: 'SIGKILL' } as const
    const child = Bun.spawn([path, ...args], { stdio: ['ignore', 'ignore', 'ignore'], env: {}, ...limits })
    setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
    const code = await child.exited
    signal.throwIfAborted()
    return code === 0
  }
}

async function written(path: string, source: AsyncIterable<Uint8Array> | Uint8Array[]): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  let size = 0
  try {
    for await (const piece of source) {
      size += piece.byteLength
      if (size > MAX_BYTES) throw new GiveUp(TOO_LARGE)
      for (let at = 0; at < piece.byteLength; ) at += (await file.write(piece, at)).bytesWritten
    }
  } finally {
    await file.close()
  }
}

/** Reads the input only as MP4. Opens no other file and no address. */
const argumentsOf = ({ before, sign, after }: Paths): string[] => [
  ...['-nostdin', '-v', 'error', '-protocol_whitelist', 'file'],
  ...['-f', 'mov', '-enable_drefs', '0', '-i', before, '-f', 'png_pipe', '-i', sign],
  ...['-filter_complex', '[0:v:0][1:v]overlay=0:0[v]', '-map', '[v]', '-map', '0:a?'],
  ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '20', '-pix_fmt', 'yuv420p', '-threads', '1', '-c:a', 'copy'],
  ...['-metadata', `comment=${COMMENT}`, '-movflags', '+faststart', '-f', 'mp4', '-y', after],
]
