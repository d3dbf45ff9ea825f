/** A stream that is read piece by piece, so that something can happen between two of them. */
export function readPieces({ body }: Response) {
  const reader = body!.getReader() as ReadableStreamDefaultReader<Uint8Array | string>
  const decoder = new TextDecoder()
  let text = ''
  const more = async (): Promise<boolean> => {
    const { value, done } = await reader.read()
    if (!done) text += typeof value === 'string' ? value : decoder.decode(value, { stream: true })
    return !done
  }
  return {
    /** Reads on until this was said, and answers everything that was. */
    async heard(words: string): Promise<string> {
      while (!text.includes(words))
        if (!(await more())) throw new Error(`the stream ended without ${words}: ${text.slice(0, 400)}`)
      return text
    },
    /** Reads to the end and answers everything that was said. */
    async toItsEnd(): Promise<string> {
      while (await more());
      return text
    },
  }
}
