import { sentencesOf } from '../text'
import type { Skill } from './question'
import { plural } from './words'

type Jab = (text: string) => string | null

const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

/** Each counts something in the text and makes a true remark about it. */
const JABS: Jab[] = [
  (text) => {
    const found = [
      ...new Set(
        text
          .toLowerCase()
          .match(
            /\b(?:synergy|leverage|disrupt\w*|innovative|revolutionary|game[- ]chang\w*|best[- ]in[- ]class|seamless\w*|cutting[- ]edge|world[- ]class|robust|scalable|paradigm|rockstar|ninja|passionate|blockchain|ai[- ]powered)\b/g,
          ) ?? [],
      ),
    ]
    return found.length
      ? `It says ${found.map((word) => `"${word}"`).join(', ')}. Somewhere a buzzword generator wants its royalties.`
      : null
  },
  (text) => {
    const shouts = countOf(text, /!/g)
    return shouts >= 2 ? `${plural(shouts, 'exclamation mark')}: either this is on fire or it wishes it were.` : null
  },
  (text) => {
    const hedges = countOf(
      text,
      /\b(?:just|maybe|kind of|sort of|basically|actually|very|really|quite|perhaps|i think)\b/gi,
    )
    return hedges >= 2 ? `${plural(hedges, 'hedge')} such as "just" and "really". Commit; the text can take it.` : null
  },
  (text) => {
    const longest = Math.max(...sentencesOf(text).map((sentence) => sentence.split(/\s+/).length))
    return longest > 30 ? `One sentence runs for ${longest} words. Pack a lunch.` : null
  },
  (text) => {
    const self = countOf(text, /\b(?:i|i'm|i've|my|me|myself)\b/gi)
    return self >= 4 ? `It mentions its author ${self} times, which is one way to meet everybody.` : null
  },
  (text) =>
    text === text.toUpperCase() && /[A-Z]{6}/.test(text) ? 'All capitals. The caps-lock key filed for overtime.' : null,
  (text) => {
    const todo = countOf(text, /\b(?:TODO|FIXME|XXX|HACK)\b/g)
    return todo ? `${plural(todo, 'TODO')} left in: a promise to a future self who has moved away.` : null
  },
  (text) =>
    /\bvar\s|==[^=]|\beval\(|\bany\b.*:/.test(text)
      ? 'The code has habits its reviewer would like to discuss outside.'
      : null,
  (text) => (text.split(/\s+/).length < 12 ? 'So short that roasting it feels like grilling a crouton.' : null),
]

const SAFE = 'Annoyingly, nothing countable is wrong with it. It is so tidy that the dust feels left out.'

/** A light roast of the supplied text in `roast` mode: about the text, never about a person. */
export const roast: Skill = ({ mode, prompt, material }) => {
  if (mode !== 'roast') return null
  const text = material || prompt
  const jabs = JABS.flatMap((jab) => jab(text) ?? []).slice(0, 3)
  return `${(jabs.length ? jabs : [SAFE]).join(' ')}\n\n(A light roast by rules: no language model is connected, so it counts and does not judge.)`
}
