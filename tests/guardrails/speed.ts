import { readFileSync } from 'node:fs'
import { GUARDRAILS } from '../../src/guardrails/catalogue'
import type { GuardrailId, Inspect } from '../../src/guardrails/guardrail'
import { readCorpus } from '../../src/training/corpus'
import { ownTime } from '../support/effort'
import { readMarked } from './marked'

const CHARS = 4_096

/** Configs as of a large policy; the other guardrails need none. */
const CONFIGS: Partial<Record<GuardrailId, Record<string, unknown>>> = {
  topic_restriction: { deny: ['politics', 'medical advice'], allow: ['shopping', 'programming', 'travel', 'food'] },
  blocked_terms: { terms: ['acme', 'rival products', 'zyx'] },
  regex_match: { pattern: '\\bproject-\\d{4}\\b', flags: 'i' },
  language: { allowed: ['en', 'de', 'fr'] },
  max_length: { max_chars: 100_000 },
}

/** All guardrails that check prompts, compiled. */
const inputChecks = (): { id: GuardrailId; inspect: Inspect }[] =>
  [...GUARDRAILS.values()]
    .filter(({ phases }) => phases.includes('input'))
    .map(({ id, prepare }) => ({ id, inspect: prepare(CONFIGS[id] ?? {}) }))

/** Ordinary texts of four thousand characters: prose of many languages, code, logs, tables. */
export function longTexts(): string[] {
  const filled = (text: string) => text.repeat(Math.ceil(CHARS / text.length)).slice(0, CHARS)
  const lines = (texts: readonly { text: string }[]) => texts.map(({ text }) => text).join('\n')
  const code = readFileSync('src/kernel/validation.ts', 'utf8')
  const prose = readFileSync('docs/api.md', 'utf8')
  const held = 'tests/guardrails/held-out'
  const prompts = readCorpus('src/training/classifier/calibration', null)
  return [
    ...[0, 1, 2, 3].map((part) => filled(prose.slice(part * CHARS, (part + 1) * CHARS))),
    filled(code),
    filled(code.slice(CHARS)),
    filled(lines(readMarked(`${held}/clean.txt`))),
    ...['de', 'fr', 'es', 'ru', 'zh'].map((language) =>
      filled(lines(prompts.filter((one) => one.language === language))),
    ),
  ]
}

type Times = Map<GuardrailId, number[]>

/** Milliseconds by guardrail and text: the best of `runs` and of `before`. Each run changes the text to miss caches. */
export function timesOf(texts: readonly string[], runs = 30, before?: Times): Times {
  const checks = inputChecks()
  const best = before ?? new Map(checks.map(({ id }) => [id, texts.map(() => Number.POSITIVE_INFINITY)]))
  for (let run = 0; run < runs; run++) {
    for (const [place, text] of texts.entries()) {
      const fresh = `${text.slice(1)}${String.fromCharCode(97 + (run % 26))}`
      for (const { id, inspect } of checks) {
        const began = ownTime()
        void inspect(fresh, { phase: 'input' })
        const all = best.get(id)!
        all[place] = Math.min(all[place]!, ownTime() - began)
      }
    }
  }
  return best
}

/** Milliseconds that all guardrails together take on the slowest text. */
export const slowest = (times: Times): number => {
  return Math.max(...[...times.values()].reduce((sum, one) => sum.map((ms, place) => ms + one[place]!)))
}
