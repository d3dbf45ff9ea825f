import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'
import { answerTasks } from '../../kernel/worker-pool'
import { textOf } from './page-text'

export type PageQuery = { html: string; maxChars: number }
/** `publishedAt` as the page says it, in whatever form. */
export type PageAnswer = { title: string | null; text: string; publishedAt: string | null }

const MAX_TITLE_CHARS = 500
const MAX_DATE_CHARS = 40

/**
 * Extracts the main article of a page, or all its text when there is none. Scripts are not run and nothing is loaded.
 */
function readable(html: string): PageAnswer {
  const document = documentOf(html)
  const ownTitle = document.title?.trim() || null
  const everything = textOf(document.documentElement)
  const article = new Readability(document as unknown as Document, {
    serializer: (node) => textOf(node as Element),
    maxElemsToParse: 50_000,
  }).parse()
  const publishedAt = article?.publishedTime || null
  return { title: article?.title || ownTitle, text: article?.content || everything, publishedAt }
}

/** Gives a page the html, head and body that HTML lets it leave out. The library adds none, and others look into them. */
function documentOf(html: string): Document {
  const asWritten = parseHTML(html).document
  const document =
    asWritten.documentElement?.tagName === 'HTML' ? asWritten : parseHTML(`<html><body>${html}</body></html>`).document
  const root = document.documentElement
  const head = root.querySelector('head') ?? document.createElement('head')
  const body = root.querySelector('body') ?? document.createElement('body')
  for (const node of [...root.childNodes]) if (node !== head && node !== body) body.append(node)
  root.append(head, body)
  for (const element of body.querySelectorAll(':scope > title, :scope > meta')) head.append(element)
  return document
}

answerTasks(({ html, maxChars }: PageQuery): PageAnswer => {
  const { title, text, publishedAt } = readable(html)
  const cut = { title: title?.slice(0, MAX_TITLE_CHARS) ?? null, text: text.slice(0, maxChars) }
  return { ...cut, publishedAt: publishedAt?.slice(0, MAX_DATE_CHARS) ?? null }
})
