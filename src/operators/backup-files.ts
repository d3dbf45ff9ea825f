import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256Hex } from '../kernel/crypto'

type Content = {
  sha256: string
  /** The file name in the files folder. */
  place: string
  size: number
  open(): Promise<Blob | ReadableStream<Uint8Array> | null>
}

export type Contents = () => AsyncGenerator<Content>

/** Lines in the format of `sha256sum`, which can check them too. */
export const LIST = 'files.sha256'
export const FOLDER = 'files'

/** The path of a file in the files folder and in its copy. */
const pathOf = (place: string): string => join(place.slice(0, 2), place)

/** Copies each file once, in constant memory. Call `copy` again for files added since. */
export function copyFiles(contents: Contents, folder: string) {
  const done = new Map<string, Pick<Content, 'sha256' | 'size'>>()

  return {
    async copy(): Promise<void> {
      for await (const { sha256, place, size, open: bytesOf } of contents()) {
        if (done.has(place)) continue
        // Null when its last artifact was just deleted.
        const bytes = await bytesOf()
        if (bytes === null) continue
        await written(join(folder, FOLDER, pathOf(place)), bytes)
        done.set(place, { sha256, size })
      }
    },

    /** Writes the list of copied files. */
    async list(): Promise<{ count: number; bytes: number; sha256: string }> {
      const all = [...done].sort(([a], [b]) => (a < b ? -1 : 1))
      const text = all.map(([place, { sha256 }]) => `${sha256}  ${FOLDER}/${pathOf(place)}\n`).join('')
      await writeFile(join(folder, LIST), text, { mode: 0o600 })
      const bytes = all.reduce((sum, [, { size }]) => sum + size, 0)
      return { count: all.length, bytes, sha256: sha256Hex(text) }
    },
  }
}

async function written(path: string, bytes: Blob | ReadableStream<Uint8Array>): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true, mode: 0o700 })
  const file = await open(path, 'w', 0o600)
  try {
    for await (const piece of bytes instanceof Blob ? bytes.stream() : bytes) await file.write(piece)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** The files of a copy, from its list. Throws for an invalid line, and for a path outside the folder. */
export async function listedIn(folder: string): Promise<{ sha256: string; path: string }[]> {
  const text = await readFile(join(folder, LIST), 'utf8')
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [, sha256, part, name] = /^([0-9a-f]{64}) {2}files\/([0-9a-f]{2})\/([0-9A-Za-z-]{60,100})$/.exec(line) ?? []
      if (!sha256 || !name?.startsWith(part!)) throw new Error(`${LIST} has a line that is not a file of this backup.`)
      return { sha256, path: join(part!, name) }
    })
}

/** Hashed in chunks, because a backup may be larger than memory. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array)
  return hash.digest('hex')
}
