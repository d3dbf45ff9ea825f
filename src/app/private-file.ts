import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

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
