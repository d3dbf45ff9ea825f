import { type Call, ownerOf } from '../../kernel/caller'
import { iso } from '../../kernel/clock'
import { invalidInput } from '../../kernel/errors'
import { readRange } from '../../kernel/range'
import { callsWithSkills } from '../../usage'
import type { Earnings, EarningsQuery } from '../schema'
import { searchSkills } from '../search'
import type { SkillDeps } from './deps'

const DEFAULT_MS = 30 * 24 * 60 * 60_000
const MAX_SKILLS = 1_000

/**
 * `GET /skills/earnings`. Earnings are zero, because skills are free to use. Activations are the calls a skill took
 * part in, as counted so far.
 */
export const createEarnings =
  ({ store, clock }: Pick<SkillDeps, 'store' | 'clock'>) =>
  async ({ caller }: Call, query: EarningsQuery): Promise<Earnings> => {
    const range = readRange(query)
    const to = range.to ?? clock.now()
    const from = range.from ?? to - DEFAULT_MS
    if (from >= to) throw invalidInput('from', `"from" is ${iso(from)}, which is not before "to", ${iso(to)}.`)
    const own = { words: null, sort: 'newest' as const }
    const mine = await searchSkills(store.read, { owner: ownerOf(caller) }, own, null, MAX_SKILLS)
    const calls = await callsWithSkills(
      store.read,
      mine.map(({ id }) => id),
      { from, to },
    )
    return {
      period: { from: iso(from), to: iso(to) },
      total_cents: 0,
      by_skill: mine.map(({ id, slug }) => ({
        skillId: id,
        slug,
        activations: calls.get(id) ?? 0,
        earned_cents: 0,
      })),
    }
  }
