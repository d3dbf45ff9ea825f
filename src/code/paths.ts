import sanitize from 'sanitize-filename'

const MOST_PARTS = 12
const MOST_CHARS = 200

/**
 * A path of a file below the folder of its project, wherever it is unpacked: no `..`, no root, no drive, no name that a
 * system reserves. Null when nothing is left (O1).
 */
export function safePath(wanted: string): string | null {
  const parts = wanted
    .replace(/[\p{Cc}\p{Cf}]/gu, '')
    .split(/[\\/]+/)
    .filter((part) => part && part !== '.' && part !== '..' && !/^[A-Za-z]:$/.test(part))
    .map((part) => sanitize(part, { replacement: '_' }).trim())
    .filter((part) => part && !/^\.+$/.test(part))
  const path = parts.slice(-MOST_PARTS).join('/')
  return path && path.length <= MOST_CHARS ? path : null
}
