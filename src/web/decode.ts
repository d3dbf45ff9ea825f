/** Charset declared in the page itself; HTML requires it within the first 1024 bytes. */
const META = /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w-]{2,40})/i
const HEADER = /charset\s*=\s*"?([\w-]{2,40})/i

/**
 * Decodes bytes as text. The charset comes from the byte order mark, else the Content-Type header, else the page's
 * `<meta>`. Missing and unknown charsets are read as UTF-8.
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
