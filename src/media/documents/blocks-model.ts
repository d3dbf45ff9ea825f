import { xmlText } from '../../kernel/text'

/** What a document consists of, as plain data: every format is drawn from this one model, on any thread. */

/** A stretch of text in one style. */
export type Span = {
  text: string
  bold?: true
  italic?: true
  strike?: true
  code?: true
  /** An http, https or mailto address. */
  link?: string
}

export type Text = readonly Span[]

export type Align = 'left' | 'center' | 'right'

export type Table = {
  type: 'table'
  /** One cell for each column; rows are as long. */
  header: readonly Text[]
  rows: readonly (readonly Text[])[]
  align: readonly Align[]
}

export const CHART_KINDS = ['bar', 'line', 'area', 'pie'] as const
export type ChartKind = (typeof CHART_KINDS)[number]

export type Series = {
  name: string
  /** One for each label; null where nothing is known. */
  values: readonly (number | null)[]
  /** The same as they are written, such as `$3.50`. */
  written: readonly string[]
}

export type Chart = {
  type: 'chart'
  kind: ChartKind
  title: string | null
  labels: readonly string[]
  /** A pie shows the first one. */
  series: readonly Series[]
  /** Written behind each value, such as `%` or ` EUR`. */
  unit: string
}

export type Heading = { type: 'heading'; level: 1 | 2 | 3 | 4; text: Text }

export type List = {
  type: 'list'
  ordered: boolean
  /** The number of the first item. */
  start: number
  items: readonly (readonly Block[])[]
}

export type Picture = {
  type: 'image'
  /** Where the Markdown says that it is: an artifact of the caller, or `data:`. */
  source: string
  alt: string
}

export type Block =
  | Heading
  | { type: 'paragraph'; text: Text }
  | List
  | Table
  | Chart
  | Picture
  | { type: 'code'; text: string; language: string | null }
  | { type: 'quote'; blocks: readonly Block[] }
  | { type: 'rule' }

/** Bytes of a picture that a document may show. */
export type Image = { bytes: Uint8Array; format: 'png' | 'jpeg'; width: number; height: number }

export type Document = {
  title: string
  /** Said below the title, such as a date; null without. */
  subtitle: string | null
  /** Two letters, for readers and spelling checkers; null where it is not known. */
  language: string | null
  /** Epoch milliseconds. */
  createdAt: number
  blocks: readonly Block[]
  /** By the `source` of the pictures that use them; a picture without one shows its description. */
  images: ReadonlyMap<string, Image>
}

/** The words of a text without their style. */
export const plain = (text: Text): string => text.map((span) => span.text).join('')

/** The title that a text begins with, or else this one, and what stands below it. */
export function titled(blocks: readonly Block[], otherwise: string): { title: string; body: readonly Block[] } {
  const [first] = blocks
  const isTitled = first?.type === 'heading' && first.level === 1
  const title = (isTitled && plain(first.text).trim()) || xmlText(otherwise)
  return { title, body: isTitled ? blocks.slice(1) : blocks }
}
