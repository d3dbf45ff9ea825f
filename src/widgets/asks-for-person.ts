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
  const message = text.toLowerCase().replace(/\s+/g, ' ')
  return [...PHRASES, ...keywords.map((word) => word.toLowerCase())].some((phrase) => {
    for (let at = message.indexOf(phrase); at >= 0; at = message.indexOf(phrase, at + 1)) {
      if (!isWordChar(message[at - 1]) && !isWordChar(message[at + phrase.length])) return true
    }
    return false
  })
}
