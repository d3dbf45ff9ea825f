import { Tiktoken } from 'js-tiktoken/lite'
import { answerTasks } from '../kernel/worker-pool'

export type TokenTask = { vocabulary: 'cl100k_base' | 'o200k_base'; lists: readonly (readonly number[])[] }
/** The texts, or the place of an id that the vocabulary does not have. */
export type TokenAnswer = { texts: string[] } | { unknown: { list: number; id: number } }

const loaded = new Map<string, Promise<Tiktoken>>()

/** Loaded on first use, because a vocabulary has a megabyte or two. */
async function load(vocabulary: TokenTask['vocabulary']): Promise<Tiktoken> {
  const { default: ranks } = await (vocabulary === 'o200k_base'
    ? import('js-tiktoken/ranks/o200k_base')
    : import('js-tiktoken/ranks/cl100k_base'))
  return new Tiktoken(ranks)
}

async function read({ vocabulary, lists }: TokenTask): Promise<TokenAnswer> {
  if (!loaded.has(vocabulary)) loaded.set(vocabulary, load(vocabulary))
  const tokens = await loaded.get(vocabulary)!
  const isKnown = new Map<number, boolean>()
  for (const [list, ids] of lists.entries()) {
    for (const id of ids) {
      // The library silently drops unknown ids.
      if (!isKnown.has(id)) isKnown.set(id, tokens.decode([id]) !== '')
      if (!isKnown.get(id)) return { unknown: { list, id } }
    }
  }
  return { texts: lists.map((ids) => tokens.decode([...ids])) }
}

answerTasks(read)
