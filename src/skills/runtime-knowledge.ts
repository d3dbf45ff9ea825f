import MiniSearch from 'minisearch'
import { fence } from '../kernel/fence'
import { contentWords } from '../text'
import type { SkillManifest } from './manifest'

/** A passage of a knowledge file that is relevant to a question. */
export type Passage = { path: string; text: string; score: number }

const PASSAGE_CHARS = 700
/** Most passages quoted in a run. */
export const MAX_PASSAGES = 4
/** Most words of a question that are looked up; more only cost time. */
const MAX_WORDS = 24

/** BM25 search in a skill's files; null without files. The index is built on first use and kept with the version. */
export function createKnowledge({ knowledgeFiles }: Pick<SkillManifest, 'knowledgeFiles'>) {
  const passages = Object.entries(knowledgeFiles).flatMap(([path, text]) =>
    split(text).map((part) => ({ path, text: part })),
  )
  if (!passages.length) return null
  let search: MiniSearch | null = null

  return function find(words: readonly string[], max: number): Passage[] {
    search ??= indexOf(passages)
    const found = search.search(words.slice(0, MAX_WORDS).join(' '), { tokenize: (question) => question.split(' ') })
    return found.slice(0, max).map(({ id, score }) => ({ ...passages[id]!, score }))
  }
}

function indexOf(passages: readonly { text: string }[]): MiniSearch {
  const search = new MiniSearch({ fields: ['text'], tokenize: contentWords, processTerm: (word) => word })
  search.addAll(passages.map(({ text }, id) => ({ id, text })))
  return search
}

export type Knowledge = NonNullable<ReturnType<typeof createKnowledge>>

/** The distinct words of a question, normalized like the index. */
export const requestedWords = (prompt: string): string[] => [...new Set(contentWords(prompt.slice(0, 4_000)))]

/** Splits a text into passages: short paragraphs are joined, long ones cut, so that each can be quoted whole. */
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

/** A passage fenced as data, so that the engine does not take it for instructions. */
export const quote = (slug: string, { path, text }: Passage): string => fence(`${path} of skill ${slug}`, text)

/** The passages of each file as one text, the file with the best one first. */
export const statedIn = (slug: string, passages: readonly Passage[]): { title: string; text: string }[] =>
  [...Map.groupBy(passages, ({ path }) => path)].map(([path, own]) => ({
    title: `${path} of skill ${slug}`,
    text: own.map(({ text }) => text).join('\n\n'),
  }))

/** The passages a run of this manifest alone would quote for a prompt. */
export const quotesOf = (manifest: SkillManifest, prompt: string): string[] =>
  (createKnowledge(manifest)?.(requestedWords(prompt), MAX_PASSAGES) ?? []).map((found) => quote(manifest.slug, found))
