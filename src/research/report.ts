import type { Note } from './notes'

/** A sentence of a report with the notes that support it. */
export type Statement = { text: string; cites: readonly Cite[] }
export type Cite = Pick<Note, 'source' | 'start' | 'end' | 'text'>

/** An item of a list, or a paragraph. */
export type Block = { form: 'item' | 'text'; statements: readonly Statement[] }
export type Section = { heading: string; blocks: readonly Block[] }

/** A writer's output before numbering and conversion to Markdown. */
export type Draft = {
  title: string
  /** How the report was made, for its reader. */
  notice: string
  summary: readonly Block[]
  sections: readonly Section[]
}

/** Escapes untrusted text as plain Markdown: no links, images, code, tags or headings. */
export const escaped = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_[\]<>|#~]/g, '\\$&')
    .trim()

/** A verbatim sentence of a source. */
export const quoted = (text: string): string => `“${escaped(text)}”`

export type Listed = { title: string; url: string | null; publishedAt: string | null }

/** A draft as Markdown. Sources are numbered in order of first citation. `order` lists them in that order. */
export function toMarkdown(
  draft: Draft,
  sources: readonly Listed[],
): { markdown: string; summary: string; order: number[] } {
  const order: number[] = []
  const numberOf = (source: number): number => {
    if (!order.includes(source)) order.push(source)
    return order.indexOf(source) + 1
  }
  const written = (blocks: readonly Block[]): string =>
    blocks.reduce((text, block, at) => text + gapBefore(blocks, at) + blockOf(block, numberOf), '')
  const summary = written(draft.summary)
  const parts = [`# ${draft.title}`, `> ${draft.notice}`]
  if (summary) parts.push('## Summary', summary)
  for (const { heading, blocks } of draft.sections) {
    if (blocks.length) parts.push(`## ${heading}`, written(blocks))
  }
  if (order.length) parts.push('## Sources', order.map((source, at) => sourceLine(at + 1, sources[source]!)).join('\n'))
  return { markdown: `${parts.join('\n\n')}\n`, summary, order }
}

function blockOf({ form, statements }: Block, numberOf: (source: number) => number): string {
  const text = statements
    .map((one) => {
      const marks = [...new Set(one.cites.map(({ source }) => numberOf(source)))].map((number) => `[${number}]`)
      return marks.length ? `${one.text} ${marks.join('')}` : one.text
    })
    .join(' ')
  return form === 'item' ? `- ${text}` : text
}

/** Items of a list follow each other line by line. Anything else is a separate paragraph. */
function gapBefore(blocks: readonly Block[], at: number): string {
  if (at === 0) return ''
  return blocks[at]!.form === 'item' && blocks[at - 1]!.form === 'item' ? '\n' : '\n\n'
}

function sourceLine(number: number, { title, url, publishedAt }: Listed): string {
  const name = escaped(title)
  const linked = url?.startsWith('http') ? `[${name}](<${url.replace(/[<>\s]/g, encodeURIComponent)}>)` : name
  return `${number}. ${linked}${publishedAt ? `, ${publishedAt.slice(0, 10)}` : ''}`
}
