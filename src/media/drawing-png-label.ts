/** That something was made by a program, as IPTC says it. */
export const DRAWN_XMP =
  '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/" Iptc4xmpExt:DigitalSourceType="http://cv.iptc.org/newscodes/digitalsourcetype/algorithmicMedia"/></rdf:RDF></x:xmpmeta>'

/** What every picture drawn here says of itself; never the prompt. */
const WORDS: Record<string, string> = {
  Software: 'svc local illustration',
  Description: 'A local illustration, drawn from a description by rules. Not a photograph.',
  'XML:com.adobe.xmp': DRAWN_XMP,
}

/** Bytes of a PNG before its first chunk, and of that chunk, the header. */
const SIGNATURE = 8
const HEADER = 25

/** The PNG with words that say how it was made, after its header. */
export function labelled(png: Uint8Array): Uint8Array<ArrayBuffer> {
  const chunks = Object.entries(WORDS).map(([keyword, text]) => chunkOf(keyword, text))
  const start = SIGNATURE + HEADER
  return Buffer.concat([png.subarray(0, start), ...chunks, png.subarray(start)])
}

/** An uncompressed `iTXt` chunk. */
function chunkOf(keyword: string, text: string): Buffer {
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
}
