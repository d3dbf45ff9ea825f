import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { isPrefixSearched, markOf, searchSkills, wordsOf } from '../../src/skills/search'
import { type SkillRow, skills } from '../../src/skills/table'
import { openTestStore } from '../support/store'
import { skillRow } from './rows'

const store = await openTestStore()
const CATEGORIES = ['domain', 'creative', 'automation'] as const
const SORTS = ['installs', 'rating', 'newest'] as const
const VOCABULARY = 'mail mails mailing plan planner plans draft note notes 2024 12 b élan 文書 文 meeting'.split(' ')

let state = 5
const below = (max: number): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((state / 2 ** 32) * max)
}
const words = () => Array.from({ length: 1 + below(4) }, () => VOCABULARY[below(VOCABULARY.length)]!)
const textOf = () => wordsOf(words().join(' ')).join(' ')

async function seed(count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, at) =>
    skillRow(at, {
      search_text: textOf(),
      category: CATEGORIES[below(3)]!,
      listed: below(4) > 0,
      install_count: below(5),
      rating: below(4),
    }),
  )
  await store.write(async (tx) => void (await tx.insert(tx.of(skills)).values(rows)))
}

/** One change of the kinds that a life of a skill has. */
function changed(): Partial<SkillRow> {
  const changes: Partial<SkillRow>[] = [
    { install_count: below(9) },
    { rating: below(5) },
    { listed: below(2) === 0 },
    { search_text: textOf(), category: CATEGORIES[below(3)]! },
    { listed: true, search_text: textOf(), install_count: below(9), rating: below(5) },
  ]
  return changes[below(changes.length)]!
}

type Query = { words: string[]; category: (typeof CATEGORIES)[number] | undefined; sort: (typeof SORTS)[number] }

/** What a search is, said as plainly as possible. */
function expected(all: readonly SkillRow[], { words: requests, category, sort }: Query): number[] {
  const rank = markOf(sort)
  const hit = (row: SkillRow) => {
    const own = row.search_text.split(' ')
    const isLast = (at: number) => at === requests.length - 1 && isPrefixSearched(requests[at]!)
    return requests.every((word, at) => own.some((one) => (isLast(at) ? one.startsWith(word) : one === word)))
  }
  return all
    .filter((row) => row.listed && (!category || row.category === category) && hit(row))
    .sort((a, b) => rank(b).at - rank(a).at || b.seq - a.seq)
    .map(({ seq }) => seq)
}

async function found(query: Query): Promise<number[]> {
  const seqs: number[] = []
  for (let before: ReturnType<ReturnType<typeof markOf>> | null = null; ; ) {
    const page = await searchSkills(store.read, { listed: true }, query, before, 7)
    seqs.push(...page.map(({ seq }) => seq))
    if (page.length < 7) return seqs
    before = markOf(query.sort)(page.at(-1)!)
  }
}

test('a search finds what it says, in order and page by page, whatever became of the skills since', async () => {
  await seed(120)
  for (let round = 0; round < 60; round++) {
    const all = (await store.read.select().from(store.read.of(skills))) as SkillRow[]
    const requests = wordsOf(words().join(' ')).slice(0, 1 + below(2))
    const last = requests.pop()!
    const query: Query = {
      words: [...requests, below(2) ? last : last.slice(0, 1 + below(4))],
      category: below(3) ? undefined : CATEGORIES[below(3)]!,
      sort: SORTS[below(3)]!,
    }
    expect({ query, found: await found(query) }).toEqual({ query, found: expected(all, query) })
    const some = all[below(all.length)]!
    await store.write(async (tx) => {
      const table = tx.of(skills)
      if (below(10) === 0) await tx.delete(table).where(eq(table.seq, some.seq))
      else await tx.update(table).set(changed()).where(eq(table.seq, some.seq))
    })
  }
})
