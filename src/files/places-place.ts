/** Half-open range of bytes. */
export type Span = { from: number; to: number }

/** Where bytes are kept: a folder or a bucket. Names are made by the server, never by a caller. */
export type Place = {
  /** Keeps the bytes of a finished draft under a name. Durable when it resolves; the draft may be moved. */
  put(name: string, draft: string): Promise<void>
  /** The bytes of a span, read as they are taken; null when the name is not there. */
  open(name: string, span: Span): Promise<Blob | ReadableStream<Uint8Array> | null>
  /** Removes a name; none is removed quietly. */
  remove(name: string): Promise<void>
  /** Names kept before a moment (epoch milliseconds), some at a time. */
  keptBefore(moment: number): AsyncGenerator<string[]>
}
