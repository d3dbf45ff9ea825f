import type { ServerResponse } from 'node:http'
import type { Json } from './dialect'

/** The vector of a text; a status to refuse it with; a promise of either. */
export type EmbedText = (text: string) => readonly number[] | number | Promise<readonly number[] | number>

/** All texts alike: the worst judge there can be. */
export const allAlike: EmbedText = () => [1, 0, 0]

/** Answers `POST /embeddings` as servers do, the vectors in no order but their own. */
export async function answerEmbeddings(response: ServerResponse, body: Json, embed: EmbedText): Promise<void> {
  const texts = body.input as string[]
  const vectors = await Promise.all(texts.map(embed))
  const refused = vectors.find((vector) => typeof vector === 'number')
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })).toReversed()
  const answer = refused === undefined ? { object: 'list', data, model: body.model } : { error: { message: 'refused' } }
  response.writeHead(refused === undefined ? 200 : (refused as number), { 'content-type': 'application/json' })
  response.end(JSON.stringify(answer))
}
