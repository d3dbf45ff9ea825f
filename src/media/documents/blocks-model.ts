import { xmlText } from '../../kernel/text'

/** The content of a document as plain data. All formats are rendered from this model, on any thread. */

/** A run of text in one style. */
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
  /** One cell per column. Rows have the same length. */
  header: readonly Text[]
  rows: readonly (readonly Text[])[]
  align: readonly Align[]
}

export const CHART_KINDS = ['bar', 'line', 'area', 'pie'] as const
export type ChartKind = (typeof CHART_KINDS)[number]

export type Series = {
  name: string
  /** One per label, or null if unknown. */
  values: readonly (number | null)[]
  /** The same values as written, such as `$3.50`. */
  written: readonly string[]
}

export type Chart = {
  type: 'chart'
  kind: ChartKind
  title: string | null
  labels: readonly string[]
  /** A pie shows only the first series. */
  series: readonly Series[]
  /** Written after each value, such as `%` or ` EUR`. */
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
  /** The address in the Markdown: an artifact of the caller, or a `data:` URL. */
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
  /** Epoch milliseconds. */
  createdAt: number
  blocks: readonly Block[]
  /** By the `source` of the pictures. A picture without an entry shows its description. */
  images: ReadonlyMap<string, Image>
}

/** All blocks, with those in lists and quotes in their place. */
export const flatBlocks = (blocks: readonly Block[]): Exclude<Block, { type: 'list' | 'quote' }>[] =>
  blocks.flatMap((block) =>
    block.type === 'list'
      ? block.items.flatMap(flatBlocks)
      : block.type === 'quote'
        ? flatBlocks(block.blocks)
        : [block],
  )

/** A text without its styles. */
export const plain = (text: Text): string => text.map((span) => span.text).join('')

/** A text without its styles, and the address of each link behind it, for formats that have no links. */
export const withAddresses = (text: Text): string =>
  text
    .map(({ text: words, link }, at) => {
      const isShown = !link || /^https?:\/\//i.test(words) || link === `mailto:${words}`
      return isShown || text[at + 1]?.link === link ? words : `${words} (${link.replace(/^mailto:/i, '')})`
    })
    .join('')

/** Splits a leading title from the blocks. Uses `otherwise` if there is no title. */
export function titled(blocks: readonly Block[], otherwise: string): { title: string; body: readonly Block[] } {
  const [first] = blocks
  const isTitled = first?.type === 'heading' && first.level === 1
  const title = (isTitled && plain(first.text).trim()) || xmlText(otherwise)
  return { title, body: isTitled ? blocks.slice(1) : blocks }
}
