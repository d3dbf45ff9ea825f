import { deflateSync } from 'node:zlib'
import { extractImages, getDocumentProxy } from 'unpdf'
import { reencodeImage } from '../../kernel/pictures'
import { beginningOf } from '../../kernel/text'
import { answerTasks } from '../../kernel/worker-pool'
import { mailsIn, mailText, rtfText } from './mail-rtf'
import { officeText } from './office'
import type { PageAnswer } from './page-reader.worker.ts'
import { joinPages, layOut } from './pdf-layout'

/**
 * `whole`: documents with too many pages are rejected, and pages without text are rendered. Otherwise only the first
 * pages are read.
 */
export type DocumentInput = { bytes: Uint8Array; maxChars: number; whole?: boolean; isMail?: boolean }

/** Maximum number of pages read, because a file of a few bytes may claim to have millions. */
const MAX_PAGES = 300
/** The same limit for a file that must be read completely. */
const MAX_OF_WHOLE = 1_000
/** Maximum number of rendered pages, and pixels of the longer side of each. */
const MAX_DRAWN = 10
const MAX_SIDE = 2_000

// Documents are untrusted and reading them needs no network, so `fetch` is removed.
Reflect.deleteProperty(globalThis, 'fetch')

type Field = {
  subtype?: string
  fieldName?: string
  alternativeText?: string
  fieldValue?: unknown
  options?: { exportValue: string; displayValue: string }[]
  contentsObj?: { str: string }
}

/** Remarks of readers, which are not part of the page. */
const REMARKS = /^(?:FreeText|Text|Highlight|Underline|StrikeOut|Squiggly|Caret|Stamp|Ink|Square|Circle|Line|Poly\w+)$/

/** The name and the value of a field that somebody filled in, or the text that somebody wrote on the page. */
function filledIn({ subtype, fieldName, alternativeText, fieldValue, options, contentsObj }: Field): string[] {
  if (REMARKS.test(subtype ?? '')) return contentsObj?.str.trim() ? [contentsObj.str] : []
  const value = [fieldValue]
    .flat()
    .filter((one) => typeof one === 'string' && /[^\s]/.test(one) && one !== 'Off')
    .map((one) => options?.find(({ exportValue }) => exportValue === one)?.displayValue ?? one)
  return subtype === 'Widget' && value.length ? [`${alternativeText || fieldName || ''}: ${value.join(', ')}`] : []
}

/** Extracts up to `maxChars` of text from a mail, an RTF, Office or PDF file. Decodes no images, runs no scripts. */
async function readable({ bytes, maxChars, whole = false, isMail }: DocumentInput): Promise<PageAnswer> {
  if (isMail) {
    const texts: string[] = []
    let title: string | null = null
    let chars = 0
    for (const mail of mailsIn(bytes)) {
      const read = await mailText(mail, async (attached) => (await readable({ bytes: attached, maxChars })).text)
      title ??= read.title
      texts.push(read.text)
      chars += read.text.length
      if (chars > maxChars) break
    }
    return { title, text: beginningOf(texts.join('\n\n'), maxChars), publishedAt: null }
  }
  if (bytes[0] === 0x7b) return { title: null, text: beginningOf(rtfText(bytes), maxChars), publishedAt: null }
  // A ZIP archive, the format of Office files, or XML.
  if ((bytes[0] === 0x50 && bytes[1] === 0x4b) || bytes[0] === 0x3c)
    return { title: null, text: beginningOf(officeText(bytes), maxChars), publishedAt: null }
  const quiet = { verbosity: 0, useSystemFonts: false, disableFontFace: true, maxImageSize: 1 }
  // A body may be a `Buffer`, which the library rejects.
  const document = await getDocumentProxy(new Uint8Array(bytes), quiet)
  try {
    if (whole && document.numPages > MAX_OF_WHOLE)
      throw new Error(`it has ${document.numPages} pages, and at most ${MAX_OF_WHOLE} are read`)
    const last = Math.min(document.numPages, whole ? MAX_OF_WHOLE : MAX_PAGES)
    const pages: string[] = []
    let chars = 0
    for (let number = 1; number <= last && chars < maxChars; number++) {
      const page = await document.getPage(number)
      const { items } = await page.getTextContent()
      const fields: Field[] = await page.getAnnotations()
      page.cleanup()
      const text = [layOut(items.filter((item) => 'str' in item)), ...fields.flatMap(filledIn)]
        .filter(Boolean)
        .join('\n')
      chars += text.length
      if (text) pages.push(text)
    }
    const { info } = await document.getMetadata()
    const title: unknown = 'Title' in info ? info.Title : null
    const read = {
      title: typeof title === 'string' ? beginningOf(title.trim(), 500) || null : null,
      text: beginningOf(joinPages(pages), maxChars),
      publishedAt: null,
    }
    return whole && !read.text.trim() ? { ...read, pictures: await pagesAsPictures(bytes) } : read
  } finally {
    await document.loadingTask.destroy()
  }
}

/** The largest image of each page, as in a scanned PDF. Omits pages without one. */
async function pagesAsPictures(bytes: Uint8Array): Promise<string[]> {
  const document = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0, useSystemFonts: false })
  try {
    const pictures: string[] = []
    for (let number = 1; number <= Math.min(document.numPages, MAX_DRAWN); number++) {
      const found = await extractImages(document, number)
      const [largest] = found.toSorted((a, b) => b.width * b.height - a.width * a.height)
      if (!largest) continue
      const drawn = await reencodeImage(pngOf(largest), { as: () => 'jpeg', maxSide: MAX_SIDE })
      if (drawn) pictures.push(Buffer.from(drawn.bytes).toString('base64'))
    }
    return pictures
  } finally {
    await document.loadingTask.destroy()
  }
}

/** Converts pixels to PNG, because the image library reads files only. */
function pngOf({ data, width, height, channels }: Awaited<ReturnType<typeof extractImages>>[number]): Buffer {
  const line = width * channels
  const lines = Buffer.alloc(height * (line + 1))
  for (let y = 0; y < height; y++) lines.set(data.subarray(y * line, (y + 1) * line), y * (line + 1) + 1)
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, { 1: 0, 3: 2, 4: 6 }[channels]!], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(lines)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(name: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name), content])
  const ends = Buffer.alloc(8)
  ends.writeUInt32BE(content.length, 0)
  ends.writeUInt32BE(Bun.hash.crc32(body), 4)
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)])
}

answerTasks(readable)
