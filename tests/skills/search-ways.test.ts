import { expect, test } from 'bun:test'
import { markOf, searchSkills } from '../../src/skills/search'
import { skills } from '../../src/skills/table'
import { openTestStore } from '../support/store'
import { skillRow } from './rows'

const store = await openTestStore()
const SKILLS = 5_200
const A_PAGE = 50

/** Which of the newest 3,000, through which a search looks first, and which of the older ones hold a word. */
const HOLDERS: Record<string, (age: number) => boolean> = {
  everywhere: (age) => age % 10 === 0,
  frequent: (age) => age % 80 === 3,
  oldest: (age) => age >= 3_400,
  seldom: (age) => age % 900 === 7,
  once: (age) => age === 5_100,
}

async function seed(): Promise<void> {
  for (let start = 0; start < SKILLS; start += 1_000) {
    const rows = Array.from({ length: Math.min(1_000, SKILLS - start) }, (_, place) => rowOf(start + place))
    await store.write(async (tx) => void (await tx.insert(tx.of(skills)).values(rows)))
  }
}

function rowOf(at: number) {
  const age = SKILLS - 1 - at
  const text = Object.keys(HOLDERS).filter((word) => HOLDERS[word]!(age))
  // Equal installs, so that both orders are that of age.
  return skillRow(at, { search_text: text.join(' '), install_count: 3 })
}

const ages = Array.from({ length: SKILLS }, (_, age) => age)

async function pages(word: string, sort: 'newest' | 'installs'): Promise<number[]> {
  const query = { words: [word], category: undefined, sort }
  const found: number[] = []
  for (let before: ReturnType<ReturnType<typeof markOf>> | null = null; ; ) {
    const page = await searchSkills(store.read, { listed: true }, query, before, A_PAGE)
    found.push(...page.map(({ created_at }) => SKILLS - 1 - created_at))
    if (page.length < A_PAGE) return found
    before = markOf(sort)(page.at(-1)!)
  }
}

test('a search finds all of a word in order, wherever in the list and however often it stands', async () => {
  await seed()
  for (const [word, holds] of Object.entries(HOLDERS)) {
    for (const sort of ['newest', 'installs'] as const) {
      expect({ word, sort, pages: await pages(word, sort) }).toEqual({ word, sort, pages: ages.filter(holds) })
    }
  }
}, 60_000)
