import { contentWords } from '../text'
import type { Disagreement } from './differences'
import type { Note } from './notes'
import type { Plan } from './plan'
import { type Block, type Cite, type Draft, escaped, quoted, type Section, type Statement } from './report'

const IN_SUMMARY = 3

type Input = {
  plan: Pick<Plan, 'title' | 'aspects'>
  notes: readonly Note[]
  disagreements: readonly Disagreement[]
  read: number
}

/** A report of quotations without a language model: every sentence is verbatim from a source (docs/api.md 7). */
export function writeExtract({ plan, notes, disagreements, read }: Input): Draft {
  // The best note of each source first, because a summary of a single source would hide the others.
  const seen = new Set<number>()
  const summary = notes.filter(({ source }) => !seen.has(source) && seen.add(source)).slice(0, IN_SUMMARY)
  const rest = notes.filter((note) => !summary.includes(note))
  return {
    title: escaped(plan.title),
    notice: `Extractive report: every sentence below is quoted word for word from ${read === 1 ? 'the source' : `the ${read} sources`} that could be read. No language model wrote or checked it.`,
    summary: summary.map(itemOf),
    sections: [...sectionsOf(plan.aspects, rest), ...disagreementSection(disagreements)],
  }
}

const itemOf = ({ alike, ...note }: Note): Block => ({
  form: 'item',
  statements: [{ text: quoted(note.text), cites: [note, ...alike] }],
})

/** Assigns each note to the aspect with which it shares the most words. */
function sectionsOf(aspects: readonly string[], notes: readonly Note[]): Section[] {
  const words = aspects.map((aspect) => new Set(contentWords(aspect)))
  const shared = words.length > 1 ? [...words[0]!].filter((word) => words.every((own) => own.has(word))) : []
  const sections: { heading: string; blocks: Block[] }[] = aspects.map((heading) => ({
    heading: escaped(heading),
    blocks: [],
  }))
  const others: Block[] = []
  for (const note of notes) {
    const noteWords = new Set(contentWords(note.text))
    const hits = words.map((own) => [...own].filter((word) => noteWords.has(word) && !shared.includes(word)).length)
    const best = hits.indexOf(Math.max(0, ...hits))
    ;(hits[best] ? sections[best]!.blocks : others).push(itemOf(note))
  }
  return [...sections, { heading: 'Findings', blocks: others }].filter(({ blocks }) => blocks.length)
}

/** Both sides of each disagreement, no matter who wrote the rest of the report. */
export function disagreementSection(disagreements: readonly Disagreement[]): Section[] {
  if (!disagreements.length) return []
  const side = (note: Cite, lead: string): Statement => ({ text: `${lead} ${quoted(note.text)}`, cites: [note] })
  const blocks = disagreements.map(
    ({ one, other, about }): Block => ({
      form: 'item',
      statements: [
        side(one, 'One source says:'),
        side(other, 'Another says:'),
        { text: `They differ: ${escaped(about)}.`, cites: [] },
      ],
    }),
  )
  return [{ heading: 'Where the sources disagree', blocks }]
}
