import type { OwnerScope } from '../../kernel/caller'
import { AppError, invalidInput } from '../../kernel/errors'
import { vendorNamedIn } from '../../kernel/vendor-names'
import { patternOf } from '../cluster'
import { belowThreshold, nothingToSuggest } from '../errors'
import { compilePattern } from '../pattern'
import type { Admit, Propose } from '../propose'
import { correctionRepository as rows } from '../repository-corrections'
import { readMode, readRules } from '../rules'
import { type Suggestion, type SuggestOrder, THRESHOLD, WINDOW_DAYS } from '../schema-corrections'
import type { CorrectionRow } from '../table'
import type { Vet } from '../vetting'
import type { PreferenceDeps } from './deps'

/** The newest; reading more of them would hold up others and say nothing new. */
const MOST_READ = 200
const BY_WORDS = 0.88
const BY_ENGINE = 0.78

/** A rule that takes any of these would take everything. */
const EVERYDAY = ['', 'hello', 'What time is it in Lisbon?', 'Thanks, that is all for today.', '1234']

type Deps = Pick<PreferenceDeps, 'store' | 'clock'> & { propose: Propose }
type Sourced = CorrectionRow & { prompt: string }

/**
 * A rule from an owner's corrections of the last 30 days. Throws 404
 * `not_found` without corrections and without a safe rule, 400 `routing_suggest_below_threshold` with one or two, and
 * what `admit` throws where words are not enough; without it no engine is asked.
 */
export function createSuggest({ store, clock, propose }: Deps) {
  return async function suggestFor(
    owner: OwnerScope,
    order: SuggestOrder,
    { admit, signal }: { admit: Admit | null; signal: AbortSignal },
  ): Promise<Suggestion> {
    const mode = readMode(order.expected_mode, 'expected_mode', invalidInput)
    const since = clock.now() - WINDOW_DAYS * 86_400_000
    const { items: cluster } = await rows.list(store.read, owner, { mode, since, limit: MOST_READ })
    if (!cluster.length) throw nothingToSuggest('no corrections', mode)
    if (cluster.length < THRESHOLD) throw belowThreshold(mode, cluster.length, THRESHOLD, WINDOW_DAYS)

    const sources = cluster.filter((row): row is Sourced => row.prompt !== null)
    const prompts = sources.map(({ prompt }) => prompt)
    const words = patternOf(prompts)
    if (words && (await isRule(words.pattern, mode)) && findsTwo(words.pattern, prompts)) {
      return suggestion(words.pattern, mode, sources, BY_WORDS, saying(words.tokens))
    }
    const proposed = admit && prompts.length ? await propose(prompts, admit, signal) : null
    if (proposed === null || !(await isRule(proposed, mode)) || !isApt(proposed, prompts)) {
      throw nothingToSuggest('no rule', mode)
    }
    return suggestion(proposed, mode, sources, BY_ENGINE, 'Proposed from what the corrections have in common')
  }
}

/** Nothing that has to backtrack is suggested. */
const refuseAll: Vet = async () => ({ is: 'late' })

/** Whether it could be saved as it is: it compiles, is small, and names no vendor. */
async function isRule(pattern: string, target_mode: string): Promise<boolean> {
  try {
    await readRules([{ pattern, target_mode }], refuseAll)
    return true
  } catch (error) {
    if (error instanceof AppError && error.kind === 'invalid') return false
    throw error
  }
}

/** Whether it finds at least two of what it was made from, and not simply everything. */
const isApt = (pattern: string, prompts: readonly string[]): boolean =>
  findsTwo(pattern, prompts) && !EVERYDAY.some(compilePattern(pattern).test)

function findsTwo(pattern: string, prompts: readonly string[]): boolean {
  const { test } = compilePattern(pattern)
  return prompts.filter(test).length >= 2
}

/** Two words beside each other may name a vendor that neither of them names, and then could not be saved. */
function saying(tokens: readonly string[]): string {
  const said = `Says ${tokens.join(', ')}`
  return vendorNamedIn(said) ? 'Says what the corrections say' : said
}

function suggestion(
  pattern: string,
  target_mode: string,
  sources: readonly Sourced[],
  confidence: number,
  description: string,
): Suggestion {
  const { test } = compilePattern(pattern)
  return {
    suggested_rule: { pattern, target_mode, confidence, description },
    source_correction_ids: sources.filter(({ prompt }) => test(prompt)).map(({ id }) => id),
    confidence,
  }
}
