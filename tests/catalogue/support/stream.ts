import { readPieces } from '../../support/pieces'
import type { Target } from './target'

export type OpenStream = ReturnType<typeof readPieces>

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
  return readPieces(response)
}
