import type { EngineService, Message } from '../engines'
import { originOf } from '../engines'
import type { Call } from '../kernel/caller'
import { storable } from '../kernel/text'
import type { Format } from './schema'

/** Most tokens of a document's text; some ten pages. */
export const MOST_TOKENS = 8_192

const FOR_FORMAT: Record<Format, string> = {
  pdf: 'It becomes a PDF of pages: whole sentences, sections with ## headings, tables where they help.',
  docx: 'It becomes a Word document: whole sentences, sections with ## headings, tables where they help.',
  pptx: 'It becomes slides: each ## heading begins one. Three to six short list entries a slide, or one table or chart.',
  xlsx: 'It becomes a workbook: each table becomes a sheet named by the heading above it. Numbers are plain digits.',
  csv: 'It becomes a CSV file: answer with exactly one table, its columns named in the header, and nothing else.',
}

/** What the engine is told besides the request of the caller. */
export const instructionsFor = (format: Format): string =>
  [
    'You write documents. Answer with the text of the document in Markdown and with nothing else: no remarks to the',
    'reader of this conversation, and no code fence around the whole.',
    'The first line is its title as a # heading. Write in the language of the request.',
    FOR_FORMAT[format],
    'Numbers to be shown as a chart go into a fence labelled chart: a line "type: bar", "type: line", "type: area" or',
    '"type: pie", a line "title: ...", then CSV, whose header names the series and whose first column the labels.',
    'Pictures can be shown only where the request names artifacts of its own, as ![description](art_...).',
    'Use only facts of the request and what is generally known; never invent figures, names or sources.',
  ].join('\n')

export const messagesFor = (prompt: string, format: Format): Message[] => [
  { role: 'system', content: instructionsFor(format) },
  { role: 'user', content: prompt },
]

type Written = { markdown: string; promptTokens: number; completionTokens: number; engineId: string; free: boolean }

/** Has an engine write the text of a document. Throws 503 `engine_unavailable`, 400 for a prompt that is too long. */
export async function writeDocument(
  engines: Pick<EngineService, 'answer'>,
  engineId: string,
  { prompt, format, call, signal }: { prompt: string; format: Format; call: Call; signal: AbortSignal },
): Promise<Written> {
  const { text, usage, ...source } = await engines.answer(engineId, {
    messages: messagesFor(prompt, format),
    mode: 'think',
    maxOutputTokens: MOST_TOKENS,
    origin: originOf(call),
    signal,
  })
  return { markdown: unfenced(storable(text)), ...usage, engineId: source.engineId, free: source.free }
}

/** Without the fence that some engines put around a whole answer. */
function unfenced(text: string): string {
  const whole = text.trim()
  const begin = /^```(?:markdown|md)?\s*\n/i.exec(whole)?.[0].length
  if (begin === undefined || !whole.endsWith('\n```') || begin > whole.length - 4) return whole
  const inner = whole.slice(begin, -4)
  return inner.includes('\n```') ? whole : inner
}
