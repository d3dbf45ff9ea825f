import { chmodSync, closeSync, existsSync, fsyncSync, openSync, renameSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { ConfigError } from '../kernel/config'

/**
 * Writes a file that only its owner can read. Writes and syncs a draft and renames it, so a crash leaves either the
 * complete old file or the complete new one.
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

/** Creates an empty file that only its owner can read, unless it exists. Later writers keep its mode. */
export function claimPrivate(path: string): void {
  closeSync(openSync(path, 'a', 0o600))
}

/** Removes other users' access to these files. Skips files that do not exist. @throws ConfigError */
export function makePrivate(...paths: string[]): void {
  for (const path of paths) {
    if (!existsSync(path) || !(statSync(path).mode & 0o077)) continue
    try {
      chmodSync(path, 0o600)
    } catch {
      // The file belongs to another user. The error below tells what to do.
    }
  }
  assertPrivate(...paths)
}

/**
 * Rejects files that other users can read. Skips files that do not exist (docs/operating.md 4.5). @throws ConfigError
 * naming each of them
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
