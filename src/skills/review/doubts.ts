import { attackChance } from '../../guardrails'
import { quoted } from '../../kernel/errors'
import { meetingsIn } from '../../kernel/injection/concepts'
import { readable } from '../../kernel/injection/readable'
import { type Finding, warn } from './check'
import type { Piece } from './pieces'
import { talkOf } from './talk'

/** Members that only people read: badges and inline images are normal there. */
const FOR_PEOPLE: ReadonlySet<string> = new Set(['readme', 'changelog', 'setupGuide'])
/** Members that an engine follows. Only these are scored by the model; a person reads tools and files in any case. */
const FOLLOWED: ReadonlySet<string> = new Set(['systemPromptExtension', 'hooks.onInstall', 'hooks.onUninstall'])
/**
 * From this chance of an attack on, a person has to approve: it is the default threshold of a policy. It cannot be lower:
 * trained on what users send, the model gives half of the honest prompts of skills, which instruct, 0.5 or more.
 */
const UNSURE = 0.8

/** What no honest text for an engine needs to hold. */
const SUSPECT: readonly [pattern: RegExp, about: string][] = [
  [
    /!\[[^\]\n]{0,200}\]\(https?:[^)\s]{1,200}[?&][\w.-]{1,64}=[{<[$)]/,
    'has a picture fetched with something filled in',
  ],
  [/(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{160,}/, 'holds a long run that nobody can read'],
]

/** Findings that are no proof of an attack, but that a person should read. */
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
