import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { randomBase62 } from '../kernel/crypto'
import { AppError } from '../kernel/errors'
import { notStored, tooManyBytes } from './errors'
import type { Place } from './places/place'
import { sniff } from './sniff'

/** Bytes that are kept and belong to nobody yet. */
export type Draft = { place: string; sha256: string; size: number; mimeType: string; extension: string | null }

export type Source = AsyncIterable<Uint8Array> | Uint8Array

type Deps = { place: Place; incoming: string; mostBytes: number }

/** What comes into the room: bytes are written and hashed piece by piece, looked at, and put in their place. */
export function createDrafts({ place, incoming, mostBytes }: Deps) {
  /**
   * Keeps bytes, in constant memory. `claimed` is the media type by their maker; the draft has the one that they are.
   * Throws 409 `conflict` above the owner's bound, 503 `storage_unavailable` without room on the disk.
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
        if (size > mostBytes) throw tooManyBytes(Math.round(mostBytes / 1024 ** 2))
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

/** Errors of the disk and of the bucket; others come from whoever makes the bytes. */
const isOfStorage = (error: unknown): boolean => {
  const { code, syscall, name } = error as { code?: unknown; syscall?: unknown; name?: unknown }
  return syscall !== undefined || name === 'S3Error' || /^(ENOSPC|EDQUOT|EIO|EROFS|ERR_S3)/.test(String(code))
}
