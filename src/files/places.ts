import { lstat, mkdir, open, readdir, realpath, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Half-open range of bytes. */
export type Span = { from: number; to: number }

/** Storage for bytes: a folder or a bucket. The server generates the names, never a caller. */
export type Place = {
  /** Stores a finished draft under a name. Durable when it resolves. May move the draft file. */
  put(name: string, draft: string): Promise<void>
  /** Opens a span for lazy reading. Null if the name does not exist. */
  open(name: string, span: Span): Promise<Blob | ReadableStream<Uint8Array> | null>
  /** Removes a name. Does nothing if it does not exist. */
  remove(name: string): Promise<void>
  /** Names stored before a moment (epoch milliseconds), in batches. */
  keptBefore(moment: number): AsyncGenerator<string[]>
}

type Settings = {
  dataDir: string
  filesDir: string
  filesS3Bucket: string
  filesS3Endpoint: string
  filesS3Region: string
  filesS3AccessKeyId: string
  filesS3SecretAccessKey: string
}

/** The configured place, and the folder where files are written first. */
export function createFilePlace(settings: Settings): { place: Place; incoming: string } {
  const folder = settings.filesDir || join(settings.dataDir, 'files')
  const incoming = join(folder, 'incoming')
  if (!settings.filesS3Bucket) return { place: createFolderPlace(folder), incoming }
  const place = createS3Place({
    bucket: settings.filesS3Bucket,
    endpoint: settings.filesS3Endpoint,
    region: settings.filesS3Region,
    accessKeyId: settings.filesS3AccessKeyId,
    secretAccessKey: settings.filesS3SecretAccessKey,
  })
  return { place, incoming }
}

/** Stores files in 256 subfolders by the beginning of their names. Only the server's user can read them. */
function createFolderPlace(root: string): Place {
  const pathOf = (name: string): string => join(root, name.slice(0, 2), name)
  return {
    async put(name, draft) {
      const path = pathOf(name)
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await rename(draft, path)
      await syncFolder(dirname(path))
      await syncFolder(root)
    },

    async open(name, { from, to }) {
      const path = pathOf(name)
      return (await isOwnFile(root, path)) ? Bun.file(path).slice(from, to) : null
    },

    remove: (name) => rm(pathOf(name), { force: true }),

    async *keptBefore(moment) {
      for (const part of await listed(root)) {
        if (!/^[0-9a-f]{2}$/.test(part)) continue
        const old: string[] = []
        for (const name of await listed(join(root, part))) {
          const found = await lstat(join(root, part, name)).catch(() => null)
          if (found && found.mtimeMs < moment) old.push(name)
        }
        if (old.length) yield old
      }
    },
  }
}

/** False for a missing name, and for planted files: a link out of the folder, a hard link. */
async function isOwnFile(root: string, path: string): Promise<boolean> {
  try {
    const [found, folder, top] = await Promise.all([lstat(path), realpath(dirname(path)), realpath(root)])
    return found.isFile() && found.nlink === 1 && dirname(folder) === top
  } catch {
    return false
  }
}

const listed = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])

/** Makes new names in a folder survive a power loss. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

type Bucket = { bucket: string; endpoint: string; region: string; accessKeyId: string; secretAccessKey: string }

const PREFIX = 'svc-files/'

/** Stores files in the bucket of any S3-compatible service. */
function createS3Place({ endpoint, region, ...bucket }: Bucket): Place {
  const client = new Bun.S3Client({
    ...bucket,
    ...(endpoint ? { endpoint } : {}),
    ...(region ? { region } : {}),
  })
  const at = (name: string) => client.file(PREFIX + name)
  return {
    async put(name, draft) {
      await at(name).write(Bun.file(draft), { type: 'application/octet-stream' })
    },

    async open(name, { from, to }) {
      const file = at(name)
      if (!(await file.exists())) return null
      return file.slice(from, to).stream() as ReadableStream<Uint8Array>
    },

    remove: (name) => at(name).delete(),

    async *keptBefore(moment) {
      for (let startAfter: string | undefined; ; ) {
        const page = await client.list({ prefix: PREFIX, maxKeys: 1_000, ...(startAfter ? { startAfter } : {}) })
        const found = page.contents ?? []
        const old = found.filter(({ lastModified }) => Date.parse(String(lastModified)) < moment)
        if (old.length) yield old.map(({ key }) => key.slice(PREFIX.length))
        if (!page.isTruncated || !found.length) return
        startAfter = found.at(-1)!.key
      }
    },
  }
}
