/** A source as it was read: a page, one of the caller's files, or a knowledge file of one of their skills. */
export type Source = {
  kind: 'web' | 'file' | 'skill'
  title: string
  /** Address of a page or a file, or null. */
  url: string | null
  /** The readable text, as stored. */
  text: string
  /** Hash of the UTF-8 bytes of the text. */
  sha256: string
  /** ISO 8601. Null when the source does not state it. */
  publishedAt: string | null
}

/** One of the caller's own texts. */
export type OwnText = Pick<Source, 'kind' | 'title' | 'url' | 'text' | 'publishedAt'>
