import { quoted } from '../../kernel/errors'
import { attackChance, meetingsIn, readable } from '../../text'
import { type Finding, warn } from './check'
import type { Piece } from './pieces'
import { talkOf } from './talk'

/** Members that only people read. Badges and images with parameters are normal there, so those patterns are skipped. */
const FOR_PEOPLE: ReadonlySet<string> = new Set(['readme', 'changelog', 'setupGuide'])
/**
 * Members that instruct the engine. Only these are scored by the classifier: tools and files are always read by a
 * person.
 */
const FOLLOWED: ReadonlySet<string> = new Set(['systemPromptExtension', 'hooks.onInstall', 'hooks.onUninstall'])
/**
 * Attack probability from which a person must approve; the default threshold of a guardrail policy. Not lower,
 * because the classifier, trained on user messages, gives half of the honest skill prompts 0.5 or more.
 */
const UNSURE = 0.8

/** Patterns that honest instructions to an engine do not need. */
const SUSPECT: readonly [pattern: RegExp, about: string][] = [
  [
    /!\[[^\]\n]{0,200}\]\(https?:[^)\s]{1,200}[?&][\w.-]{1,64}=[{<[$)]/,
    'has a picture fetched with something filled in',
  ],
  [/(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{160,}/, 'holds a long run that nobody can read'],
]

/** Warnings: no proof of an attack, but a person should read the text. */
export function doubtsAbout(path: string, { text, linesBefore }: Piece): Finding[] {
  const suspect = FOR_PEOPLE.has(path) ? [] : SUSPECT.filter(([pattern]) => pattern.test(text))
  const { text: plain, at: places } = readable(text)
  const found = [...meetingsIn(plain), ...(FOLLOWED.has(path) ? talkOf(plain) : [])]
  const told = found.map(({ about, at }): Finding => {
    const start = places[at] ?? 0
    const line = linesBefore + text.slice(0, start).split('\n').length
    const excerpt = text.slice(start, start + 100)
    return { severity: 'warn', path, line, message: `"${path}" ${about}: "${quoted(excerpt)}".`, excerpt }
  })
  const doubts = [...suspect.map(([, about]) => warn(path, `"${path}" ${about}.`)), ...told]
  if (doubts.length || !FOLLOWED.has(path)) return doubts
  const chance = attackChance(text)
  return chance < UNSURE
    ? []
    : [warn(path, `"${path}" may be an attempt to command the engine (${chance.toFixed(2)}).`)]
}
