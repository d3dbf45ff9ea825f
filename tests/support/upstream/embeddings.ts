import type { ServerResponse } from 'node:http'
import type { Json } from './dialect'

/** Returns the vector of a text, or a status to reject it with; may be a promise. */
export type EmbedText = (text: string) => readonly number[] | number | Promise<readonly number[] | number>

/** Gives every text the same vector: the least useful embedding possible. */
export const allAlike: EmbedText = () => [1, 0, 0]

/** Answers `POST /embeddings` like real servers, which do not return the vectors in order. */
export async function answerEmbeddings(response: ServerResponse, body: Json, embed: EmbedText): Promise<void> {
  const texts = body.input as string[]
  const vectors = await Promise.all(texts.map(embed))
  const refused = vectors.find((vector) => typeof vector === 'number')
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })).toReversed()
  const answer = refused === undefined ? { object: 'list', data, model: body.model } : { error: { message: 'refused' } }
  response.writeHead(refused === undefined ? 200 : (refused as number), { 'content-type': 'application/json' })
  response.end(JSON.stringify(answer))
}
