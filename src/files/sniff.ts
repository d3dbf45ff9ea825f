import { open } from 'node:fs/promises'
import { fileTypeFromFile } from 'file-type'

export type Kind = { mimeType: string; extension: string | null }

/** What a text may be said to be; its bytes have no mark by which to tell. */
const TEXTUAL = /^(text\/[\w.+-]+|application\/(json|xml|sql|yaml|toml|x-sh)|image\/svg\+xml)$/
const UNKNOWN: Kind = { mimeType: 'application/octet-stream', extension: 'bin' }
const HEAD_BYTES = 64 * 1024

/**
 * The media type that the bytes of a file are. A type with a mark in its bytes is never believed without it; what
 * claims to be text is, unless it is binary.
 */
export async function sniff(path: string, claimed: string): Promise<Kind> {
  const [word = ''] = claimed.toLowerCase().split(';')
  const wanted = word.trim()
  const found = await fileTypeFromFile(path)
  const isText = TEXTUAL.test(wanted)
  // XML has many formats, SVG among them, and its mark does not say which.
  if (found && !(isText && found.mime === 'application/xml')) {
    return { mimeType: sameAs(found.mime, wanted), extension: found.ext }
  }
  return isText && !(await isBinary(path)) ? { mimeType: wanted, extension: null } : UNKNOWN
}

/** Sound and pictures share their containers; which one it is only the maker knows. */
const CONTAINERS = [
  ['video/mp4', 'audio/mp4', 'audio/x-m4a'],
  ['video/webm', 'audio/webm'],
  ['video/ogg', 'audio/ogg', 'audio/opus'],
  ['video/3gpp', 'audio/3gpp', 'audio/mp4', 'audio/x-m4a'],
]
function sameAs(found: string, claimed: string): string {
  return CONTAINERS.some((names) => names.includes(found) && names.includes(claimed)) ? claimed : found
}

async function isBinary(path: string): Promise<boolean> {
  const file = await open(path, 'r')
  try {
    const head = Buffer.alloc(HEAD_BYTES)
    const { bytesRead } = await file.read(head, 0, HEAD_BYTES, 0)
    return head.subarray(0, bytesRead).includes(0)
  } finally {
    await file.close()
  }
}
