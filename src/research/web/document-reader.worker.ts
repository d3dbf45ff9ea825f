import { getDocumentProxy } from 'unpdf'
import { answerTasks } from '../../kernel/worker-pool'
import type { PageAnswer } from './page-reader.worker.ts'
import { layOut } from './pdf-layout'

export type DocumentInput = { bytes: Uint8Array; maxChars: number }

/** Most pages read; a file of a few bytes may claim to have millions. */
const MAX_PAGES = 300

// Documents are untrusted and reading them needs no network, so `fetch` is removed.
Reflect.deleteProperty(globalThis, 'fetch')

type Document = Awaited<ReturnType<typeof getDocumentProxy>>

/** Extracts a PDF's text page by page until `maxChars`. Images are not decoded and scripts are not run. */
async function readable({ bytes, maxChars }: DocumentInput): Promise<PageAnswer> {
  const quiet = { verbosity: 0, useSystemFonts: false, disableFontFace: true, maxImageSize: 1 }
  // A body may be a `Buffer`, which the library refuses.
  const document = await getDocumentProxy(new Uint8Array(bytes), quiet)
  try {
    const pages: string[] = []
    let chars = 0
    for (let number = 1; number <= Math.min(document.numPages, MAX_PAGES) && chars < maxChars; number++) {
      const page = await document.getPage(number)
      const { items } = await page.getTextContent()
      page.cleanup()
      const text = layOut(items.filter((item) => 'str' in item))
      chars += text.length
      if (text) pages.push(text)
    }
    return { title: await titleOf(document), text: pages.join('\n\n').slice(0, maxChars), publishedAt: null }
  } finally {
    await document.loadingTask.destroy()
  }
}

async function titleOf(document: Document): Promise<string | null> {
  const { info } = await document.getMetadata()
  const title: unknown = 'Title' in info ? info.Title : null
  return typeof title === 'string' ? title.trim().slice(0, 500) || null : null
}

answerTasks(readable)
