import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parsedJson } from '../kernel/json'
import { checker } from '../kernel/schema'
import { Checkpoint } from './schema'

/** A new file is started past this size, unless the newest checkpoints of all chains fill half of the file or more. */
const MAX_BYTES = 16 * 1024 * 1024
const CURRENT = 'checkpoints.jsonl'
/** The file before the current one, which rotation overwrites. Each begins with the newest checkpoint of each chain. */
const PREVIOUS = 'checkpoints.1.jsonl'

/** One line of a file: file name and line number for messages, and its checkpoint, or null when the line is invalid. */
export type CheckpointLine = { where: string; checkpoint: Checkpoint | null }

export type CheckpointBook = ReturnType<typeof createCheckpointBook>

/**
 * Stores checkpoints outside the database, as append-only JSON lines that are synced to disk before `append` returns.
 * The only writer is the process that holds the data folder.
 */
export function createCheckpointBook({ folder, maxBytes = MAX_BYTES }: { folder: string; maxBytes?: number }) {
  const current = join(folder, CURRENT)
  const previous = join(folder, PREVIOUS)
  let loaded: Promise<{ newest: Map<string, Checkpoint>; size: number }> | null = null
  let lastWrite: Promise<void> = Promise.resolve()

  /** The newest checkpoint of each chain and the size of the current file, read from disk on first use. */
  const state = () => {
    loaded ??= load()
    return loaded
  }

  async function load() {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const size = await dropTornLine(current)
    const newest = new Map<string, Checkpoint>()
    for await (const { checkpoint } of lines()) if (checkpoint) newest.set(checkpoint.scope, checkpoint)
    return { newest, size }
  }

  async function* lines(): AsyncGenerator<CheckpointLine> {
    yield* linesOf(previous, PREVIOUS)
    yield* linesOf(current, CURRENT)
  }

  /** Appends checkpoints, oldest first. Concurrent calls are written one after another. */
  function append(checkpoints: readonly Checkpoint[]): Promise<void> {
    const added = lastWrite.then(() => write(checkpoints))
    lastWrite = added.catch(() => undefined)
    return added
  }

  async function write(checkpoints: readonly Checkpoint[]): Promise<void> {
    const known = await state()
    if (known.size > maxBytes && known.size > 2 * textOf([...known.newest.values()]).length) {
      known.size = await startNewFile([...known.newest.values()])
    }
    known.size += await appendSynced(current, textOf(checkpoints))
    for (const checkpoint of checkpoints) known.newest.set(checkpoint.scope, checkpoint)
  }

  /** Starts a new file with the newest checkpoint of every chain. Replaces the current file only when complete. */
  async function startNewFile(newest: readonly Checkpoint[]): Promise<number> {
    const draft = `${current}.new`
    await rm(draft, { force: true })
    const size = await appendSynced(draft, textOf(newest))
    await rename(current, previous)
    await rename(draft, current)
    await withFile(folder, 'r', (file) => file.sync())
    return size
  }

  return {
    newest: async (scope: string): Promise<Checkpoint | null> => (await state()).newest.get(scope) ?? null,
    /** When the latest checkpoint of any chain was signed (ISO 8601), or null. */
    signedUntil: async (): Promise<string | null> =>
      [...(await state()).newest.values()].reduce<string | null>(
        (latest, { signed_at }) => (latest === null || signed_at > latest ? signed_at : latest),
        null,
      ),
    append,
    lines,
  }
}

const known = checker(Checkpoint)
const textOf = (checkpoints: readonly Checkpoint[]): string =>
  checkpoints.map((checkpoint) => `${JSON.stringify(checkpoint)}\n`).join('')

async function* linesOf(path: string, name: string): AsyncGenerator<CheckpointLine> {
  if (!(await exists(path))) return
  let number = 0
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1
    const value = parsedJson(line)
    yield { where: `${name} line ${number}`, checkpoint: known.is(value) ? value : null }
  }
}

/** Drops a last line cut short by a crash, because its `append` never returned. Returns the size, 0 without a file. */
async function dropTornLine(path: string): Promise<number> {
  if (!(await exists(path))) return 0
  const bytes = await readFile(path)
  const whole = bytes.lastIndexOf(0x0a) + 1
  if (whole < bytes.length) await withFile(path, 'r+', (file) => file.truncate(whole))
  return whole
}

function appendSynced(path: string, text: string): Promise<number> {
  return withFile(path, 'a', async (file) => {
    const bytes = Buffer.from(text)
    await file.appendFile(bytes)
    await file.sync()
    return bytes.length
  })
}

async function withFile<T>(path: string, mode: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, mode, 0o600)
  try {
    return await work(file)
  } finally {
    await file.close()
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
