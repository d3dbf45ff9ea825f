import { fence } from '../../kernel/fence'
import { contentWords } from '../../kernel/words'
import type { SkillManifest } from '../manifest'
import { createRanking, type Ranking } from './ranking'

/** One stretch of a file that bears on a question. */
export type Passage = { path: string; text: string; score: number }

const PASSAGE_CHARS = 700
/** So many are quoted in a run. */
export const MOST_PASSAGES = 4
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
  let ranking: Ranking | null = null

  return function find(words: readonly string[], most: number): Passage[] {
    ranking ??= createRanking(passages.map(({ text }) => text))
    return ranking(words.slice(0, MOST_WORDS), most).map(({ place, score }) => ({ ...passages[place]!, score }))
  }
}

export type Knowledge = NonNullable<ReturnType<typeof createKnowledge>>

/** What a question asks for, as the index holds it. */
export const askedWords = (prompt: string): string[] => [...new Set(contentWords(prompt.slice(0, 4_000)))]

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
  const parts: string[] = []
  let rest = paragraph.trim()
  while (rest.length > PASSAGE_CHARS) {
    const space = rest.lastIndexOf(' ', PASSAGE_CHARS)
    const at = space > PASSAGE_CHARS / 2 ? space : PASSAGE_CHARS
    parts.push(rest.slice(0, at))
    rest = rest.slice(at).trim()
  }
  return rest ? [...parts, rest] : parts
}

/** A passage as the engine reads it: data of that file, not instructions. */
export const quote = (slug: string, { path, text }: Passage): string => fence(`${path} of skill ${slug}`, text)

/** What the files of a manifest by itself say on a question, as a run of it would quote them. */
export const quotesOf = (manifest: SkillManifest, prompt: string): string[] =>
  (createKnowledge(manifest)?.(askedWords(prompt), MOST_PASSAGES) ?? []).map((found) => quote(manifest.slug, found))
