import type { Intents } from './schema'

/** Phrases that ask for a person, besides the owner's own keywords. */
const PHRASES = [
  'talk to a human',
  'talk to a person',
  'talk to someone',
  'talk to an agent',
  'speak to a human',
  'speak to a person',
  'speak to someone',
  'speak to an agent',
  'speak with a human',
  'human agent',
  'real person',
  'real human',
  'live agent',
  'echter mensch',
  'mit einem menschen',
  'hablar con una persona',
  'parler à un humain',
  'parler à une personne',
]

const isWordChar = (char: string | undefined): boolean => char !== undefined && /[\p{L}\p{N}]/u.test(char)

/** Whether a message asks for a person: it has one of the phrases as whole words. Linear in its length. */
export function asksForPerson(text: string, { enabled, keywords }: Intents): boolean {
  if (!enabled) return false
  const said = text.toLowerCase().replace(/\s+/g, ' ')
  return [...PHRASES, ...keywords.map((word) => word.toLowerCase())].some((phrase) => hasWords(said, phrase))
}

function hasWords(text: string, phrase: string): boolean {
  for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + 1)) {
    if (!isWordChar(text[at - 1]) && !isWordChar(text[at + phrase.length])) return true
  }
  return false
}
