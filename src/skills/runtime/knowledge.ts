import MiniSearch from 'minisearch'
import { fence } from '../../kernel/fence'
import { contentWords } from '../../kernel/words'
import type { SkillManifest } from '../manifest'

/** One stretch of a file that bears on a question. */
export type Passage = { path: string; text: string; score: number }

const PASSAGE_CHARS = 700
/** A question is found by its words; more of them only cost time. */
const MOST_WORDS = 24

/**
 * Finds passages of a skill's files by BM25. The index is made when it is first asked, and kept with the
 * version it belongs to.
 */
export function createKnowledge({ knowledgeFiles }: Pick<SkillManifest, 'knowledgeFiles'>) {
  const passages = Object.entries(knowledgeFiles).flatMap(([path, text]) =>
    split(text).map((part) => ({ path, text: part })),
  )
  if (!passages.length) return null
  let index: MiniSearch | null = null

  return function find(words: readonly string[], most: number): Passage[] {
    index ??= build(passages)
    if (!words.length) return []
    const hits = index.search(words.slice(0, MOST_WORDS).join(' '), { combineWith: 'OR' })
    return hits.slice(0, most).map(({ id, score }) => ({ ...passages[id as number]!, score }))
  }
}

export type Knowledge = NonNullable<ReturnType<typeof createKnowledge>>

/** What a question asks for, as the index holds it. */
export const askedWords = (prompt: string): string[] => [...new Set(contentWords(prompt.slice(0, 4_000)))]

function build(passages: readonly { path: string; text: string }[]): MiniSearch {
  const index = new MiniSearch({ fields: ['text'], tokenize: contentWords, processTerm: (term) => term })
  index.addAll(passages.map(({ text }, id) => ({ id, text })))
  return index
}

/** Paragraphs, short ones together and long ones apart, so that a passage can be quoted whole. */
function split(text: string): string[] {
  const parts: string[] = []
  let open = ''
  for (const paragraph of text.split(/\n\s*\n/).flatMap(cut)) {
    if (open && open.length + paragraph.length > PASSAGE_CHARS) {
      parts.push(open)
      open = ''
    }
    open = open ? `${open}\n\n${paragraph}` : paragraph
  }
  return open.trim() ? [...parts, open] : parts
}

function cut(paragraph: string): string[] {
  const text = paragraph.trim()
  if (text.length <= PASSAGE_CHARS) return text ? [text] : []
  const space = text.lastIndexOf(' ', PASSAGE_CHARS)
  const at = space > PASSAGE_CHARS / 2 ? space : PASSAGE_CHARS
  return [text.slice(0, at), ...cut(text.slice(at))]
}

/** A passage as the engine reads it: data of that file, not instructions. */
export const quote = (slug: string, { path, text }: Passage): string => fence(`${path} of skill ${slug}`, text)
