import type { EngineOpinion } from '../../guardrails'
import type { Examined } from '.'
import { type Evidence, resultOf, warn } from './check'

/** What no honest prompt of a skill wants; each goes on after "The text". */
const WISHES: readonly [about: string, statement: string][] = [
  ['hides something from the user', 'tells an assistant to hide, deny or misstate something to the person it serves'],
  ['sends what people write elsewhere', 'has what a person wrote sent elsewhere or tracked, as by links or pictures'],
  ['favours someone in secret', 'has an assistant favour a product, seller or person without saying so'],
  ['keeps people from help', 'keeps people from doctors, medicine, lawyers, police or other help'],
  ['lifts rules', 'treats the rules or earlier instructions of an assistant as optional, or replaces them'],
  ['adds something nobody asked for', 'has code, packages, links or claims added that the person did not ask for'],
]

const BY_ENGINE = 'An engine suspects that the prompt'
/** From this certainty of an engine on, a person looks. */
const SURE = 0.5
/** Characters of a prompt in one question, and most questions: together the longest prompt. */
const PIECE_CHARS = 4_000
const MAX_PIECES = 5

/**
 * Asks an engine about the prompt of a skill that nobody else would look at (contract 8.2). It can only add a doubt,
 * which sends the skill to a person; without an answer the local checks stand.
 */
export async function withSecondOpinion(examined: Examined, opinion: EngineOpinion | null): Promise<Examined> {
  const { manifest, tier, evidence } = examined
  if (!opinion || !manifest || tier !== 'auto' || evidence.some(({ severity }) => severity === 'fail')) return examined
  const text = manifest.systemPromptExtension
  const pieces = Array.from({ length: Math.min(MAX_PIECES, Math.ceil(text.length / PIECE_CHARS)) }, (_, at) =>
    text.slice(at * PIECE_CHARS, (at + 1) * PIECE_CHARS).toWellFormed(),
  )
  const statements = WISHES.map(([, statement]) => statement)
  // Nobody leaves while a skill is reviewed; each question ends by itself.
  const { signal } = new AbortController()
  const opinions = await Promise.all(
    pieces.map((piece) => opinion({ text: piece, start: 0, end: piece.length, statements }, signal)),
  )
  const doubts = WISHES.flatMap(([about], at): Evidence[] => {
    const sure = Math.max(0, ...opinions.map((one) => one?.[at] ?? 0))
    const message = `${BY_ENGINE} ${about} (${sure.toFixed(2)}).`
    return sure < SURE ? [] : [{ check: 'injection_scan', ...warn('systemPromptExtension', message) }]
  })
  if (!doubts.length) return examined
  const scanned = [...evidence.filter(({ check }) => check === 'injection_scan'), ...doubts]
  return {
    ...examined,
    tier: 'staff',
    reasons: [...examined.reasons, ...engineDoubtsIn(doubts)],
    checks: { ...examined.checks, injection_scan: resultOf(scanned) },
    evidence: [...evidence, ...doubts],
  }
}

/** The reason for a tier that an engine's doubts are, if there are any. */
export const engineDoubtsIn = (evidence: readonly Evidence[]): string[] =>
  evidence.some(({ message }) => message.startsWith(BY_ENGINE)) ? ['An engine has doubts about it.'] : []
