const DESCRIPTION = 'A local illustration, drawn from a description by rules. Not a photograph.'
const SOFTWARE = 'svc local illustration'

const xmp = (attributes: string, content: string) =>
  `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/" ${attributes}Iptc4xmpExt:DigitalSourceType="http://cv.iptc.org/newscodes/digitalsourcetype/algorithmicMedia"${content}</rdf:RDF></x:xmpmeta>`

/** IPTC metadata that marks media as made by a program. */
export const DRAWN_XMP = xmp('', '/>')

/** The same with the texts that a PNG stores in separate chunks. */
const PICTURE_XMP = xmp(
  `xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmp:CreatorTool="${SOFTWARE}" `,
  `><dc:description><rdf:Alt><rdf:li xml:lang="x-default">${DESCRIPTION}</rdf:li></rdf:Alt></dc:description></rdf:Description>`,
)

/** Metadata of every picture drawn here. Never contains the prompt. */
const WORDS: Record<string, string> = {
  Software: SOFTWARE,
  Description: DESCRIPTION,
  'XML:com.adobe.xmp': DRAWN_XMP,
}

/** Bytes of a PNG signature, and of the header chunk after it. */
const SIGNATURE = 8
const HEADER = 25

/** Adds metadata about how the picture was made, in the way of its format. */
export const labelled = { png, jpeg, webp }

function png(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const chunks = Object.entries(WORDS).map(([keyword, text]) => {
    const body = Buffer.concat([
      Buffer.from('iTXt'),
      Buffer.from(keyword, 'latin1'),
      Buffer.from([0, 0, 0, 0, 0]),
      Buffer.from(text),
    ])
    const chunk = Buffer.alloc(body.length + 8)
    chunk.writeUInt32BE(body.length - 4, 0)
    body.copy(chunk, 4)
    chunk.writeUInt32BE(Bun.hash.crc32(body), body.length + 4)
    return chunk
  })
  const start = SIGNATURE + HEADER
  return Buffer.concat([bytes.subarray(0, start), ...chunks, bytes.subarray(start)])
}

/** Inserts XMP as an APP1 segment after the JFIF segment, which must be first. */
function jpeg(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const start = bytes[3] === 0xe0 ? 4 + bytes[4]! * 256 + bytes[5]! : 2
  const body = Buffer.from(`http://ns.adobe.com/xap/1.0/\0${PICTURE_XMP}`)
  const head = Buffer.from([0xff, 0xe1, 0, 0])
  head.writeUInt16BE(body.length + 2, 2)
  return Buffer.concat([bytes.subarray(0, start), head, body, bytes.subarray(start)])
}

const XMP_FLAG = 0x04
const ALPHA_FLAG = 0x10
/** Offsets of the first chunk of a WebP and of its content. */
const [FIRST, CONTENT] = [12, 20]

/** Adds XMP as the last chunk of an extended WebP. Converts a simple WebP to an extended one. */
function webp(bytes: Uint8Array, { width, height }: { width: number; height: number }): Uint8Array<ArrayBuffer> {
  const given = Buffer.from(bytes)
  const kind = given.toString('latin1', FIRST, FIRST + 4)
  const extended = Buffer.alloc(10)
  if (kind === 'VP8X') given.copy(extended, 0, CONTENT)
  else {
    const hasAlpha = kind === 'VP8L' && (given[CONTENT + 4]! & 0x10) !== 0
    extended[0] = hasAlpha ? ALPHA_FLAG : 0
    extended.writeUIntLE(width - 1, 4, 3)
    extended.writeUIntLE(height - 1, 7, 3)
  }
  extended[0]! |= XMP_FLAG
  const rest = given.subarray(kind === 'VP8X' ? CONTENT + 10 : FIRST)
  const body = Buffer.concat([riff('VP8X', extended), rest, riff('XMP ', Buffer.from(PICTURE_XMP))])
  return riff('RIFF', Buffer.concat([Buffer.from('WEBP'), body]))
}

function riff(name: string, content: Buffer): Buffer<ArrayBuffer> {
  const head = Buffer.alloc(8)
  head.write(name, 'latin1')
  head.writeUInt32LE(content.length, 4)
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)])
}
