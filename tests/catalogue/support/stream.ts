import type { Target } from './target'

/** A stream that is read piece by piece. */
export type OpenStream = {
  /** Reads on until this was said. */
  heard(words: string): Promise<void>
  /** Reads to the end and answers everything that was said. */
  toItsEnd(): Promise<string>
}

/** Opens a stream with that credential on a node. Throws when it is refused. */
export async function openStream(
  { url }: Pick<Target, 'url'>,
  credential: string,
  path: string,
  input: object,
): Promise<OpenStream> {
  const response = await fetch(`${url}/api/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...input, stream: true }),
  })
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
  const reader = response.body!.getReader()
  const words = new TextDecoder()
  let text = ''
  const more = async (): Promise<boolean> => {
    const { value, done } = await reader.read()
    if (!done) text += words.decode(value, { stream: true })
    return !done
  }
  return {
    async heard(message) {
      while (!text.includes(message))
        if (!(await more())) throw new Error(`the stream ended without ${message}: ${text}`)
    },
    async toItsEnd() {
      while (await more());
      return text
    },
  }
}
