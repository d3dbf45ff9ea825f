import isIdentityCard from 'validator/lib/isIdentityCard'
import isTaxID from 'validator/lib/isTaxID'
import { matchesOf } from '../../../kernel/matches'
import { type Find, followsWord, type Place } from './kind'

type Id = {
  pattern: RegExp
  /** Checks beyond the pattern, on letters and digits alone. */
  isValid(compact: string): boolean
  /** Words one of which must stand before it; none: its form says enough. */
  context?: RegExp
}

const near = (words: string): RegExp => new RegExp(`(?:${words})[^\\d\\n]{0,24}$`, 'iu')
const US_WORDS = near('ssn|social security|taxpayer|\\bitin\\b|sozialversicherung')
/** Numbers that were never given out (ssa.gov): the area 000, 666 and 900 on, the group 00, the serial 0000. */
const isUsNumber = (id: string): boolean => /^(?!000|666|9)\d{3}(?!00)\d{2}(?!0000)\d{4}$/.test(id)

const IDS: readonly Id[] = [
  { pattern: /(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])/g, isValid: isUsNumber },
  { pattern: /(?<![\w-])\d{3}[ .]?\d{2}[ .]?\d{4}(?![\w-])/g, isValid: isUsNumber, context: US_WORDS },
  {
    pattern: /(?<!\w)[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D](?!\w)/gi,
    isValid: () => true,
    context: near('national insurance|\\bnino\\b|\\bni (?:no|number)|\\bni'),
  },
  { pattern: /(?<!\w)\d{8}-?[A-Z](?!\w)/g, isValid: (id) => isIdentityCard(id, 'ES') },
  { pattern: /(?<!\w)[XYZ]-?\d{7}-?[A-Z](?!\w)/g, isValid: (id) => isIdentityCard(id, 'ES') },
  {
    pattern: /(?<!\w)[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z](?!\w)/gi,
    isValid: (id) => isTaxID(id.toUpperCase(), 'it-IT'),
  },
  { pattern: /(?<!\w)\d{11}(?!\w)/g, isValid: (id) => isIdentityCard(id, 'PL'), context: near('pesel') },
  { pattern: /(?<!\w)\d{3}\.\d{3}\.\d{3}-\d{2}(?!\w)/g, isValid: (id) => isTaxID(id, 'pt-BR') },
  { pattern: /(?<!\w)\d{11}(?!\w)/g, isValid: (id) => isTaxID(id, 'pt-BR'), context: near('\\bcpf\\b') },
  {
    pattern: /(?<!\w)[12] ?\d{2} ?\d{2} ?\d{2} ?\d{3} ?\d{3} ?\d{2}(?!\w)/g,
    isValid: (id) => Number(BigInt(id.slice(0, 13)) % 97n) === 97 - Number(id.slice(13)),
    context: near('s[ée]curit[ée] sociale|\\bnir\\b|n°? ?ss'),
  },
  {
    pattern: /(?<!\w)\d{2} ?\d{3} ?\d{3} ?\d{3}(?!\w)/g,
    isValid: (id) => isTaxID(id, 'de-DE'),
    context: near('steuer-?(?:id|identifikation\\w*|nummer)|\\bidnr'),
  },
  {
    pattern: /(?<!\w)\d{9}(?!\w)/g,
    isValid: (id) => isTaxID(id, 'nl-NL'),
    context: near('\\bbsn\\b|burgerservice\\w*'),
  },
  {
    pattern: /(?<!\w)\d{4} ?\d{4} ?\d{4}(?!\w)/g,
    isValid: (id) => isIdentityCard(id, 'IN'),
    context: near('aadhaa?r|आधार'),
  },
  {
    pattern: /(?<!\w)\d{17}[\dX](?!\w)/g,
    isValid: (id) => isIdentityCard(id, 'zh-CN'),
    context: near('身份证|id card'),
  },
]

/** The fewest digits of any of them, how near each other these stand at the least, and how far it goes on around them. */
const FEWEST = 6
const NEAR = 12
const AROUND = 24

/** Where so many digits stand together, and what is around them: most texts are not searched fourteen times. */
function numberedParts(text: string): Place[] {
  const parts: Place[] = []
  const last = new Int32Array(FEWEST).fill(-NEAR)
  let seen = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 48 || code > 57) continue
    last[seen++ % FEWEST] = at
    const first = last[seen % FEWEST]!
    if (at - first >= NEAR) continue
    const before = parts.at(-1)
    if (before && before.end >= first - AROUND) before.end = at + AROUND
    else parts.push({ start: Math.max(0, first - AROUND), end: at + AROUND })
  }
  return parts
}

/** Numbers a state gives a person: the American one, and others by form, check digit or the word before them. */
export const findNationalIds: Find = (text) => {
  const parts = numberedParts(text)
  const texts = parts.map(({ start, end }) => text.slice(start, end))
  const found: Place[] = []
  for (const { pattern, isValid, context } of IDS) {
    for (let place = 0; place < parts.length; place++) {
      for (const { 0: hit, index } of matchesOf(pattern, texts[place]!)) {
        const start = parts[place]!.start + index
        if (context && !followsWord(text, start, context)) continue
        if (isValid(hit.replace(/[ .-]/g, ''))) found.push({ start, end: start + hit.length })
      }
    }
  }
  return found
}
