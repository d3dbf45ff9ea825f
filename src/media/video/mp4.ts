/** A box of an MP4: its type, and its content without the header. */
type Box = { type: string; body: Buffer }

/** Metadata of every clip. Never contains the prompt. */
export type Words = { tool: string; comment: string; xmp: string }

/** Boxes that contain the offset tables. */
const PARENTS = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl'])
const XMP_ID = Buffer.from('be7acfcb97a942e89c71999491e3afac', 'hex')

/**
 * Moves the index of an MP4 to the start, so that it plays while loading, and adds metadata about how it was made.
 * Throws for bytes that are not an MP4.
 */
export function finished(mp4: Uint8Array, words: Words): Buffer {
  const boxes = boxesOf(Buffer.from(mp4.buffer, mp4.byteOffset, mp4.byteLength))
  const moov = boxes.find(({ type }) => type === 'moov')
  const ftyp = boxes.find(({ type }) => type === 'ftyp')
  const rest = boxes.filter(({ type }) => !['moov', 'ftyp', 'free', 'uuid'].includes(type))
  if (!moov || !ftyp || !rest.some(({ type }) => type === 'mdat')) throw new Error('not a whole MP4')
  const about = boxOf('uuid', Buffer.concat([XMP_ID, Buffer.from(words.xmp)]))
  const remaining = boxesOf(moov.body).filter(({ type }) => type !== 'udta')
  const index = boxOf('moov', Buffer.concat([...remaining.map(({ type, body }) => boxOf(type, body)), udta(words)]))
  const head = boxOf('ftyp', ftyp.body)
  const first = boxes.find(({ type }) => type === 'mdat')!
  const before = offsetIn(boxes, first)
  const after = head.length + index.length + about.length + offsetIn(rest, first)
  shift(index.subarray(8), after - before)
  return Buffer.concat([head, index, about, ...rest.map(({ type, body }) => boxOf(type, body))])
}

function boxesOf(bytes: Buffer): Box[] {
  const boxes: Box[] = []
  for (let at = 0; at + 8 <= bytes.length; ) {
    const short = bytes.readUInt32BE(at)
    const header = short === 1 ? 16 : 8
    const size = short === 1 ? Number(bytes.readBigUInt64BE(at + 8)) : short === 0 ? bytes.length - at : short
    if (size < header || at + size > bytes.length) throw new Error('not a whole MP4')
    boxes.push({ type: bytes.toString('latin1', at + 4, at + 8), body: bytes.subarray(at + header, at + size) })
    at += size
  }
  return boxes
}

function boxOf(type: string, body: Buffer): Buffer {
  const header = Buffer.alloc(8)
  header.writeUInt32BE(body.length + 8)
  header.write(type, 4, 'latin1')
  return Buffer.concat([header, body])
}

/** The offset of a box. All boxes have headers of eight bytes. */
function offsetIn(boxes: readonly Box[], wanted: Box): number {
  let at = 0
  for (const box of boxes) {
    if (box === wanted) return at
    at += box.body.length + 8
  }
  throw new Error('not a whole MP4')
}

/** Shifts the entries of the offset tables, in place. */
function shift(bytes: Buffer, by: number): void {
  for (const { type, body } of boxesOf(bytes)) {
    if (PARENTS.has(type)) shift(body, by)
    if (type !== 'stco' && type !== 'co64') continue
    const width = type === 'stco' ? 4 : 8
    for (let entry = 0; entry < body.readUInt32BE(4); entry++) {
      const at = 8 + entry * width
      if (width === 4) body.writeUInt32BE(body.readUInt32BE(at) + by, at)
      else body.writeBigUInt64BE(body.readBigUInt64BE(at) + BigInt(by), at)
    }
  }
}

/** The metadata that players show. */
function udta({ tool, comment }: Words): Buffer {
  const item = (type: string, text: string) => {
    const flags = Buffer.from([0, 0, 0, 1, 0, 0, 0, 0])
    return boxOf(type, boxOf('data', Buffer.concat([flags, Buffer.from(text)])))
  }
  const handler = Buffer.alloc(25)
  handler.write('mdirappl', 8, 'latin1')
  const list = boxOf('ilst', Buffer.concat([item('\u00a9too', tool), item('\u00a9cmt', comment)]))
  return boxOf('udta', boxOf('meta', Buffer.concat([Buffer.alloc(4), boxOf('hdlr', handler), list])))
}
