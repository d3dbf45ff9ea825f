import { xmlText } from '../../../kernel/text'
import { answerTasks } from '../../../kernel/worker-pool'
import type { Format } from '../../schema'
import { readMarkdown } from '../blocks-markdown'
import { type Block, type Document, flatBlocks, type Image, titled } from '../blocks-model'
import { outlineOf } from '../outline'
import { jsonRows } from '../outline-reading'
import { renderCsv } from './csv'
import { inlineBytes, readPicture } from './pictures'

/** A document to lay out in a worker, because layout takes tens of milliseconds and blocks. */
export type RenderInput = {
  format: Format
  markdown: string
  /** Used unless the Markdown begins with a title of its own. */
  title: string
  createdAt: number
  /** Bytes of the caller's own pictures, by the address in the Markdown. */
  pictures: ReadonlyMap<string, Uint8Array>
}

export type Rendered = { title: string; bytes: Uint8Array }

/** A prompt to make an outline of, up to a megabyte. */
export type OutlineInput = { outline: string }
export type Outlined = { title: string; markdown: string }

// All content is in the input, so rendering needs no network.
Reflect.deleteProperty(globalThis, 'fetch')

async function answerTo(input: RenderInput | OutlineInput): Promise<Rendered | Outlined> {
  if ('outline' in input) return outlineOf(input.outline)
  const written = await documentOf(input)
  const isRows = input.format === 'xlsx' || input.format === 'csv'
  const document = isRows ? { ...written, blocks: written.blocks.map(asRows) } : written
  return { title: document.title, bytes: await bytesOf(input.format, document) }
}

/** Each library is loaded with the first document that needs it. */
async function bytesOf(format: Format, document: Document): Promise<Uint8Array> {
  switch (format) {
    case 'pdf':
      return (await import('./pdf')).renderPdf(document)
    case 'docx':
      return (await import('./docx')).renderDocx(document)
    case 'pptx':
      return (await import('./pptx')).renderPptx(document)
    case 'xlsx':
      return (await import('./xlsx')).renderXlsx(document)
    case 'csv':
      return renderCsv(document)
  }
}

async function documentOf({ markdown, title, pictures, createdAt }: RenderInput): Promise<Document> {
  const { title: named, body: blocks } = titled(readMarkdown(markdown), title)
  return { title: named, createdAt, blocks, images: await imagesOf(blocks, pictures) }
}

/** JSON records become tables in workbooks and CSV. In other formats they stay code. */
function asRows(block: Block): Block {
  const [names, ...items] = (block.type === 'code' && jsonRows(block.text)) || []
  if (!names) return block
  const cells = (row: readonly string[]) => row.map((text) => [{ text: xmlText(text) }])
  return { type: 'table', header: cells(names), rows: items.map(cells), align: names.map(() => 'left') }
}

async function imagesOf(blocks: readonly Block[], pictures: RenderInput['pictures']): Promise<Map<string, Image>> {
  const images = new Map<string, Image>()
  for (const block of flatBlocks(blocks)) {
    if (block.type !== 'image' || images.has(block.source)) continue
    const { source } = block
    const bytes = pictures.get(source) ?? inlineBytes(source)
    const image = bytes ? await readPicture(bytes) : null
    if (image) images.set(source, image)
  }
  return images
}

answerTasks(answerTo)
