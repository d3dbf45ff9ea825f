import { chmodSync, closeSync, existsSync, fsyncSync, openSync, renameSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { ConfigError } from '../kernel/config'

/**
 * Writes a file that only its owner can read. It is written under another name, synced, and renamed, so that a crash
 * leaves the complete old file or the complete new one.
 */
export function writePrivate(path: string, text: string): void {
  const draft = `${path}.new`
  const file = openSync(draft, 'w', 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(draft, path)
  const folder = openSync(dirname(path), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** Creates an empty file that only its owner can read, unless it exists; later writers keep its mode. */
export function claimPrivate(path: string): void {
  closeSync(openSync(path, 'a', 0o600))
}

/** Takes the right to read from others, where they have it; files that do not exist pass. @throws ConfigError */
export function makePrivate(...paths: string[]): void {
  for (const path of paths) {
    if (!existsSync(path) || !(statSync(path).mode & 0o077)) continue
    try {
      chmodSync(path, 0o600)
    } catch {
      // A file of someone else: the refusal below says what to do.
    }
  }
  assertPrivate(...paths)
}

/**
 * Refuses files that others can read; those that do not exist pass (docs/operating.md 4.5). @throws ConfigError naming
 * each of them
 */
export function assertPrivate(...paths: string[]): void {
  const open = paths.filter((path) => existsSync(path) && statSync(path).mode & 0o077)
  if (!open.length) return
  throw new ConfigError(
    open.map(
      (path) =>
        `${path} can be read by other users (mode ${(statSync(path).mode & 0o777).toString(8)}). Run: chmod 600 ${path}`,
    ),
  )
}
