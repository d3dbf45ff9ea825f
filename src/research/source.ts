/** A source as it was read: a page, one of the caller's files, or a knowledge file of one of their skills. */
export type Source = {
  kind: 'web' | 'file' | 'skill'
  title: string
  /** Address of a page or a file; null for what has none. */
  url: string | null
  /** The readable text, as it is kept. */
  text: string
  /** Of the UTF-8 bytes of the text. */
  sha256: string
  /** ISO 8601; null where the source does not say. */
  publishedAt: string | null
}

/** Text of the caller's own, for a question. */
export type OwnText = Pick<Source, 'kind' | 'title' | 'url' | 'text' | 'publishedAt'>
