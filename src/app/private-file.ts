import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Writes a file that only its owner can read, whole or not at all: under another name first, then
 * renamed, each step on the disk before the next. A crash leaves the old file or the new one.
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

/** Makes an empty file that only its owner can read, unless there is one: what opens it next keeps that. */
export function claimPrivate(path: string): void {
  closeSync(openSync(path, 'a', 0o600))
}
