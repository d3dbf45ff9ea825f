import { lstat, mkdir, open, readdir, realpath, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Place } from './places-place'

/** Keeps files in a folder, in 256 folders of it, by the beginning of their names. Only the server's user can read them. */
export function createFolderPlace(root: string): Place {
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

/** False for a name that is not there, and for what someone planted: a link out of the folder, a second name of a file. */
async function isOwnFile(root: string, path: string): Promise<boolean> {
  try {
    const [found, folder, top] = await Promise.all([lstat(path), realpath(dirname(path)), realpath(root)])
    return found.isFile() && found.nlink === 1 && dirname(folder) === top
  } catch {
    return false
  }
}

const listed = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])

/** Makes new names in a folder survive a power cut. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
