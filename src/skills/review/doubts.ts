import { attackChance } from '../../guardrails'
import { quoted } from '../../kernel/errors'
import { meetingsIn } from '../../kernel/injection/concepts'
import { readable } from '../../kernel/injection/readable'
import { type Finding, warn } from './check'
import type { Piece } from './pieces'
import { talkOf } from './talk'

/** Members that only people read, where badges and data of pictures are nothing to wonder about. */
const FOR_PEOPLE: ReadonlySet<string> = new Set(['readme', 'changelog', 'setupGuide'])
/** Members that an engine follows. Those alone are held against the model: what is told it of tools and files, a person reads in any case. */
const FOLLOWED: ReadonlySet<string> = new Set(['systemPromptExtension', 'hooks.onInstall', 'hooks.onUninstall'])
/**
 * What a policy blocks in a prompt unless told otherwise is not approved here without a person. The model was made
 * from what people send; of honest prompts of skills, which instruct, it finds every second one as likely as not.
 */
const UNSURE = 0.8

/** What an engine has no need to read or to write, whatever stands around it. */
const SUSPECT: readonly [pattern: RegExp, about: string][] = [
  [
    /!\[[^\]\n]{0,200}\]\(https?:[^)\s]{1,200}[?&][\w.-]{1,64}=[{<[$)]/,
    'has a picture fetched with something filled in',
  ],
  [/(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{160,}/, 'holds a long run that nobody can read'],
]

/** Nothing that is surely an attempt; what a person should read all the same. */
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
