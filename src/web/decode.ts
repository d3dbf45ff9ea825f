/** Charset declared in the page itself; HTML requires it within the first 1024 bytes. */
const META = /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w-]{2,40})/i
const HEADER = /charset\s*=\s*"?([\w-]{2,40})/i

const XML = /^\s*<\?xml[^>]{0,100}encoding\s*=\s*["']([\w-]{2,40})/i

/**
 * Decodes bytes as text, as browsers do. The charset comes from the byte order mark, else the Content-Type header, else
 * the page's `<meta>` or XML declaration. What names none, or one that nobody knows, is UTF-8 where it reads as that,
 * and Windows-1252 elsewhere.
 */
export function decodeText(bytes: Uint8Array, contentType: string): string {
  const start = Buffer.from(bytes.subarray(0, 1_024)).toString('latin1')
  const inside = (META.exec(start) ?? XML.exec(start))?.[1]
  // A page whose bytes could be read as far as this cannot be in UTF-16.
  const named = bomOf(bytes) ?? HEADER.exec(contentType)?.[1] ?? (inside && /^utf-?16/i.test(inside) ? 'utf-8' : inside)
  const decoder = named ? decoderOf(named) : null
  return decoder ? decoder.decode(bytes) : unnamed(bytes)
}

function bomOf([first, second, third]: Uint8Array): string | null {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return first === 0xff && second === 0xfe ? 'utf-16le' : null
}

function decoderOf(name: string): TextDecoder | null {
  try {
    return new TextDecoder(name as 'utf-8')
  } catch {
    return null
  }
}

/** In another charset hardly a letter beyond ASCII reads as UTF-8; a single broken byte makes no other charset. */
function unnamed(bytes: Uint8Array): string {
  const text = new TextDecoder('utf-8').decode(bytes)
  const broken = text.split('\ufffd').length - 1
  if (broken === 0) return text
  const beyond = text.match(/[^\0-\x7f]/g)?.length ?? 0
  return beyond > 5 * broken ? text : new TextDecoder('windows-1252').decode(bytes)
}

const HEAD_BYTES = 64 * 1024

/** Whether bytes of an unknown type are a text: they hold no control characters, which other files are full of. */
export function isText(bytes: Uint8Array): boolean {
  if (bomOf(bytes)) return true
  const head = bytes.subarray(0, HEAD_BYTES)
  return head.length > 0 && !head.some((byte) => byte < 0x20 && (byte < 0x09 || byte > 0x0d) && byte !== 0x1b)
}
