import { constants, deflateRawSync, deflateSync } from 'node:zlib'

type Stream = { data: Uint8Array | string; filter?: string }

const MEGABYTES_A_BLOCK = 10

/** A PDF file of these objects, the first of them its catalogue. */
function toFile(objects: readonly (string | Stream)[], info = ''): Uint8Array {
  const parts: Buffer[] = []
  const starts: number[] = []
  let length = 0
  const add = (...pieces: (string | Uint8Array)[]) => {
    for (const piece of pieces) {
      const bytes = Buffer.from(piece as string)
      parts.push(bytes)
      length += bytes.length
    }
  }
  add('%PDF-1.5\n')
  for (const [at, object] of objects.entries()) {
    starts.push(length)
    add(`${at + 1} 0 obj\n`)
    if (typeof object === 'string') add(object)
    else add(dictionaryOf(object), 'stream\n', object.data, '\nendstream')
    add('\nendobj\n')
  }
  const table = starts.map((start) => `${String(start).padStart(10, '0')} 00000 n \n`).join('')
  const size = objects.length + 1
  const end = `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<</Size ${size}/Root 1 0 R${info}>>\n`
  add(end, `startxref\n${length}\n%%EOF`)
  return Buffer.concat(parts)
}

const dictionaryOf = ({ data, filter }: Stream): string =>
  `<</Length ${data.length}${filter ? `/Filter ${filter}` : ''}>>\n`

const PAGE = '<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>'
const FONT = '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>'

const onePage = (contents: Stream): Uint8Array =>
  toFile(
    [
      '<</Type/Catalog/Pages 2 0 R>>',
      '<</Type/Pages/Kids[3 0 R]/Count 1>>',
      PAGE,
      contents,
      FONT,
      '<</Title(Of tides)>>',
    ],
    '/Info 6 0 R',
  )

const show = (lines: readonly string[]): string =>
  `BT /F 12 Tf 20 700 Td ${lines.map((line) => `(${line}) Tj 0 -14 Td`).join(' ')} ET`

/** One page with these lines, packed as most files are. */
export const pdfOf = (...lines: string[]): Uint8Array =>
  onePage({ data: deflateSync(show(lines)), filter: '/FlateDecode' })

/** A small file whose page unfolds to this many megabytes of white space. */
export function pdfBomb(megabytes: number): Uint8Array {
  const block = deflateRawSync(Buffer.alloc(MEGABYTES_A_BLOCK * 1024 * 1024, ' '), {
    finishFlush: constants.Z_FULL_FLUSH,
  })
  const blocks = Array.from({ length: megabytes / MEGABYTES_A_BLOCK }, () => block)
  const data = Buffer.concat([Buffer.from([0x78, 0x9c]), ...blocks, deflateRawSync('')])
  return onePage({ data, filter: '/FlateDecode' })
}

/** Two objects that say of themselves that they are pages of each other. */
export const pdfCircle = (): Uint8Array =>
  toFile(['<</Type/Catalog/Pages 2 0 R>>', '<</Type/Pages/Kids[2 0 R 2 0 R]/Count 100000000>>'])

/** Pages without text, each this JPEG, as a scanner writes them. */
export const pdfScan = (jpeg: Uint8Array, width: number, height: number, pages = 1): Uint8Array =>
  toFile([
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Kids[${'3 0 R '.repeat(pages)}]/Count ${pages}>>`,
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</XObject<</I 5 0 R>>>>>>',
    { data: 'q 600 0 0 800 0 0 cm /I Do Q' },
    {
      data: jpeg,
      filter: `/DCTDecode/Type/XObject/Subtype/Image/Width ${width}/Height ${height}/ColorSpace/DeviceRGB/BitsPerComponent 8`,
    },
  ])
