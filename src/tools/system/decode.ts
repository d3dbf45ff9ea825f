/** Where a page says its charset itself: within its first kilobyte. */
const META = /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w-]{2,40})/i
const HEADER = /charset\s*=\s*"?([\w-]{2,40})/i

/**
 * Bytes as text: by the byte order mark, the header, the page's own word, and else as UTF-8. A charset
 * nobody knows is read as UTF-8 too.
 */
export function decodeText(bytes: Uint8Array, contentType: string): string {
  const start = Buffer.from(bytes.subarray(0, 1_024)).toString('latin1')
  const named = bomOf(bytes) ?? HEADER.exec(contentType)?.[1] ?? META.exec(start)?.[1] ?? 'utf-8'
  return decoderOf(named).decode(bytes)
}

function bomOf([first, second]: Uint8Array): string | null {
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return first === 0xff && second === 0xfe ? 'utf-16le' : null
}

function decoderOf(name: string): TextDecoder {
  try {
    return new TextDecoder(name as 'utf-8')
  } catch {
    return new TextDecoder('utf-8')
  }
}
