import { describe, expect, test } from 'bun:test'
import type { OrgId } from '../../src/kernel/ids'
import { skillRepository } from '../../src/skills/repository'
import { SKILL_SORTS } from '../../src/skills/schema'
import { markOf, searchSkills } from '../../src/skills/search'
import { type ListedRow, skills } from '../../src/skills/table'
import { openTestStore } from '../support/store'
import { skillRow } from './rows'

const store = await openTestStore()
const ORGS = ['acme', 'bolt', 'core'] as OrgId[]
const STATES = ['approved', 'approved', 'approved', 'suspended', 'draft'] as const

/** Few different ranks, so that pages end between equals; every seventh of an org is shared with everyone. */
const rows = Array.from({ length: 90 }, (_, at) =>
  skillRow(at, {
    owner: `user:${at % 2}`,
    org_scope_id: at % 4 === 3 ? null : ORGS[at % 3]!,
    visibility: at % 7 ? 'org' : 'public',
    status: STATES[at % 5]!,
    listed: false,
    install_count: (at * 7) % 5,
    rating: (at * 11) % 4,
    created_at: 1_000 - at,
  }),
)
await store.write(async (tx) => void (await tx.insert(tx.of(skills)).values(rows)))
const all = (await store.read.select().from(store.read.of(skills))) as ListedRow[]

describe.each(SKILL_SORTS)('by %s', (sort) => {
  const mark = markOf(sort)

  async function walk(among: Parameters<typeof searchSkills>[1], limit: number): Promise<string[]> {
    const found: string[] = []
    for (let before: ReturnType<typeof mark> | null = null; ; ) {
      const page = await searchSkills(store.read, among, { words: null, sort }, before, limit)
      found.push(...page.map(({ slug }) => slug))
      if (page.length < limit) return found
      before = mark(page.at(-1)!)
    }
  }

  const inOrder = (isWanted: (row: ListedRow) => boolean) =>
    all
      .filter(isWanted)
      .sort((a, b) => mark(b).at - mark(a).at || b.seq - a.seq)
      .map(({ slug }) => slug)

  test.each([[['acme']], [['acme', 'bolt']], [['core', 'acme', 'bolt']], [['core', 'nobody']]])(
    'what the orgs %j share is told once each, in order, in pages of any length',
    async (names) => {
      const orgIds = names as OrgId[]
      const isShared = (row: ListedRow) =>
        row.visibility === 'org' && row.status === 'approved' && orgIds.some((id) => id === row.org_scope_id)
      const wanted = inOrder(isShared)
      expect(wanted.length).toBeGreaterThan(5)
      for (const limit of [1, 4, 100]) expect(await walk({ orgIds }, limit)).toEqual(wanted)
    },
  )

  test('and so are one’s own', async () => {
    const wanted = inOrder((row) => row.owner === 'user:1')
    for (const limit of [1, 4, 100]) expect(await walk({ owner: 'user:1' }, limit)).toEqual(wanted)
  })
})

test.each([
  [{}],
  [{ status: 'approved' as const }],
  [{ owner: 'user:1' as const }],
  [{ owner: 'user:0' as const, status: 'draft' as const }],
  [{ category: 'creative' }],
])('operators are told the skills of %j, those made last first', async (narrowing: Partial<ListedRow>) => {
  const isWanted = (row: ListedRow) => Object.entries(narrowing).every(([key, value]) => row[key as 'slug'] === value)
  const wanted = all.filter(isWanted).sort((a, b) => b.seq - a.seq)
  const found: string[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await skillRepository.all(store.read, {
      ...narrowing,
      limit: 4,
      ...(cursor ? { cursor } : {}),
    } as never)
    found.push(...page.items.map(({ id }) => id))
    cursor = page.next
  }
  expect(found).toEqual(wanted.map(({ id }) => id))
})
