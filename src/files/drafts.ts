import { mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { recurring } from '../jobs'
import type { Clock } from '../kernel/clock'
import { randomBase62 } from '../kernel/crypto'
import { AppError } from '../kernel/errors'
import { inBatches } from '../kernel/loop'
import type { Store } from '../kernel/store'
import { fileErrors, notStored } from './errors'
import type { Place } from './places'
import { fileRepository as rows } from './repository'
import type { Files } from './service'

type Kind = { mimeType: string; extension: string | null }

/** Text types that a caller may claim, because the bytes of text have no signature. */
const TEXTUAL = /^(text\/[\w.+-]+|application\/(json|xml|sql|yaml|toml|x-sh)|image\/svg\+xml)$/

const UNKNOWN: Kind = { mimeType: 'application/octet-stream', extension: 'bin' }

const HEAD_BYTES = 64 * 1024

/** Video and audio share these containers, and only the maker knows which one a file is. */
const CONTAINERS = [
  ['video/mp4', 'audio/mp4', 'audio/x-m4a'],
  ['video/webm', 'audio/webm'],
  ['video/ogg', 'audio/ogg', 'audio/opus'],
  ['video/3gpp', 'audio/3gpp', 'audio/mp4', 'audio/x-m4a'],
]

/** Stored bytes that have no owner yet. */
export type Draft = { place: string; sha256: string; size: number; mimeType: string; extension: string | null }

export type Source = AsyncIterable<Uint8Array> | Uint8Array

/** Receives files: writes and hashes the bytes in pieces, detects their type, and moves them to their place. */
export function createDrafts({ place, incoming, maxBytes }: { place: Place; incoming: string; maxBytes: number }) {
  /**
   * Stores bytes in constant memory. `claimed` is the media type from their maker; the draft has the detected one.
   * Throws 409 `conflict` above the owner's limit, 503 `storage_unavailable` if the disk is full.
   */
  return async function receive(source: Source, claimed: string): Promise<Draft> {
    const path = join(incoming, randomBase62(24))
    try {
      await mkdir(incoming, { recursive: true, mode: 0o700 })
      const { sha256, size } = await written(path, source)
      const { mimeType, extension } = await sniff(path, claimed)
      const name = `${sha256}-${randomBase62(12)}`
      await place.put(name, path)
      return { place: name, sha256, size, mimeType, extension }
    } catch (error) {
      throw error instanceof AppError || !isOfStorage(error) ? error : notStored(error)
    } finally {
      await rm(path, { force: true })
    }
  }

  async function written(path: string, source: Source): Promise<{ sha256: string; size: number }> {
    const hash = new Bun.CryptoHasher('sha256')
    const file = await open(path, 'wx', 0o600)
    let size = 0
    try {
      for await (const piece of source instanceof Uint8Array ? [source] : source) {
        size += piece.byteLength
        if (size > maxBytes) throw fileErrors.tooManyBytes(Math.round(maxBytes / 1024 ** 2))
        hash.update(piece)
        for (let at = 0; at < piece.byteLength; ) at += (await file.write(piece, at)).bytesWritten
      }
      await file.sync()
    } finally {
      await file.close()
    }
    return { sha256: hash.digest('hex'), size }
  }
}

/** Whether an error comes from the disk or the bucket. Others come from the source of the bytes. */
const isOfStorage = (error: unknown): boolean => {
  const { code, syscall, name } = error as { code?: unknown; syscall?: unknown; name?: unknown }
  return syscall !== undefined || name === 'S3Error' || /^(ENOSPC|EDQUOT|EIO|EROFS|ERR_S3)/.test(String(code))
}

/**
 * Detects the media type of a file by its bytes. A type with a signature is never accepted without it. A claimed text
 * type is accepted unless the file is binary.
 */
async function sniff(path: string, claimed: string): Promise<Kind> {
  const [word = ''] = claimed.toLowerCase().split(';')
  const wanted = word.trim()
  const { fileTypeFromFile } = await import('file-type')
  const found = await fileTypeFromFile(path)
  const isText = TEXTUAL.test(wanted)
  // XML has many formats including SVG, and its signature does not tell which.
  if (found && !(isText && found.mime === 'application/xml')) {
    return {
      mimeType: CONTAINERS.some((names) => names.includes(found.mime) && names.includes(wanted)) ? wanted : found.mime,
      extension: found.ext,
    }
  }
  return isText && !(await isBinary(path)) ? { mimeType: wanted, extension: null } : UNKNOWN
}

async function isBinary(path: string): Promise<boolean> {
  const file = await open(path, 'r')
  try {
    const head = Buffer.alloc(HEAD_BYTES)
    const { bytesRead } = await file.read(head, 0, HEAD_BYTES, 0)
    return head.subarray(0, bytesRead).includes(0)
  } finally {
    await file.close()
  }
}

const EXPIRY_MS = 60_000
const SWEEP_MS = 3_600_000
/** Longer than any work between storing bytes and the commit that gives them to an owner. */
const UNOWNED_MS = 86_400_000
const BATCH = 100

/** Job that removes expired artifacts. */
export const expiredFiles = ({ removeExpired, dueAt }: Pick<Files, 'removeExpired' | 'dueAt'>) => {
  return recurring('files.expiry', EXPIRY_MS, (signal) => inBatches(removeExpired, signal), { dueAt })
}

type SweepDeps = { store: Store; clock: Clock; place: Place; incoming: string }

/** Job that removes bytes without an artifact: leftovers of crashes and of failed removals. */
export const sweptFiles = (deps: SweepDeps) => recurring('files.sweep', SWEEP_MS, () => sweepFiles(deps))

export async function sweepFiles({ store, clock, place, incoming }: SweepDeps): Promise<number> {
  const before = clock.now() - UNOWNED_MS
  let removed = await removeUnfinished(incoming, before)
  for await (const names of place.keptBefore(before)) {
    for (let at = 0; at < names.length; at += BATCH) {
      const some = names.slice(at, at + BATCH)
      const known = await rows.known(store.read, some)
      for (const name of some) {
        if (known.has(name)) continue
        await place.remove(name)
        removed += 1
      }
    }
  }
  return removed
}

async function removeUnfinished(incoming: string, before: number): Promise<number> {
  let removed = 0
  for (const name of await readdir(incoming).catch(() => [])) {
    const path = join(incoming, name)
    const found = await stat(path).catch(() => null)
    if (!found || found.mtimeMs >= before) continue
    await rm(path, { force: true })
    removed += 1
  }
  return removed
}
