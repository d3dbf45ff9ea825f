import { quoted } from '../../kernel/errors'
import { attackChance, meetingsIn, readable, wishChance } from '../../text'
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
/** Probabilities from which a person must approve. Prompts of skills command, as attacks do, so the first is high. */
const UNSURE = { attack: 0.9, wish: 0.65 }

/** Patterns that honest instructions to an engine do not need. */
const SUSPECT: readonly [pattern: RegExp, about: string][] = [
  [
    /!\[[^\]\n]{0,200}\]\(https?:[^)\s]{1,200}[?&][\w.-]{1,64}=[{<[$)]/,
    'loads a picture from an address with data filled in',
  ],
  [
    /https?:\/\/[^\s)\]]{1,200}[?&/=][{<[$(]{1,2}\s?(?:the[ _-])?(?:current[ _-])?(?:user|visitor|reader|customer|client|person|account|session|conversation|chat|e-?mail|phone|topic|question|prompt)/i,
    'has a link that identifies the person who follows it',
  ],
  [
    /\b(?:curl|wget|irm|iwr)\b[^\n|]{1,200}\|\s{0,3}(?:sudo\s{1,3})?(?:ba|z|da)?(?:sh|iex|python3?|node)\b|\b(?:install|add|i)\s[^\n]{0,120}(?:--(?:extra-)?(?:index-url|registry)[ =]|(?:git\+)?https?:\/\/(?!github\.com\/|gitlab\.com\/|registry\.npmjs\.org|pypi\.org))/i,
    'installs something from a little-known source',
  ],
  [/(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{160,}/, 'contains a long unreadable sequence'],
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
  return [
    ...guessed(path, 'may be an attempt to command the engine', attackChance(text), UNSURE.attack),
    ...guessed(path, 'may make the engine act against the user', wishChance(text), UNSURE.wish),
  ]
}

const guessed = (path: string, about: string, chance: number, least: number): Finding[] =>
  chance < least ? [] : [warn(path, `"${path}" ${about} (${chance.toFixed(2)}).`)]
