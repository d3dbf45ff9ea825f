import sanitize from 'sanitize-filename'
import { shorten } from '../kernel/text'

const MOST_CHARS = 120
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)\s*(?:\.|$)/i

/**
 * A name for a file that every file system takes: no folders, no control or direction marks, no reserved words. Its
 * ending is that of the bytes where they have one. Only shown, never used to store.
 */
export function safeFilename(wanted: string, extension: string | null): string {
  const last = wanted.split(/[\\/]/).at(-1) ?? ''
  const bare = last.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu, '').replace(/^[.\s]+/, '')
  // A reserved word would be replaced with its ending.
  const clean = sanitize(RESERVED.test(bare) ? `_${bare}` : bare, { replacement: '_' })
  const dot = clean.lastIndexOf('.')
  const stem = dot > 0 ? clean.slice(0, dot) : clean
  const ending = extension ?? (dot > 0 ? clean.slice(dot + 1, dot + 13) : 'txt')
  return `${shorten(stem, MOST_CHARS) || 'file'}.${ending}`
}
