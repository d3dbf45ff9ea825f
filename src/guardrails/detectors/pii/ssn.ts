import isIdentityCard from 'validator/lib/isIdentityCard'
import isTaxID from 'validator/lib/isTaxID'
import { type Find, followsWord, type Place } from './kind'
import { digitGroups } from './numbers'

type Id = {
  /** How many digits its first group of them can have, in all ways to part them. */
  first: readonly number[]
  /** How many units may stand before that group; none where it is not said. */
  before?: readonly number[]
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
  { first: [3], pattern: /(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])/y, isValid: isUsNumber },
  {
    first: [3, 5, 9],
    pattern: /(?<![\w-])\d{3}[ .]?\d{2}[ .]?\d{4}(?![\w-])/y,
    isValid: isUsNumber,
    context: US_WORDS,
  },
  {
    first: [2, 4, 6],
    before: [3, 2],
    pattern: /(?<!\w)[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D](?!\w)/iy,
    isValid: () => true,
    context: near('national insurance|\\bnino\\b|\\bni (?:no|number)|\\bni'),
  },
  { first: [8], pattern: /(?<!\w)\d{8}-?[A-Z](?!\w)/y, isValid: (id) => isIdentityCard(id, 'ES') },
  {
    first: [7],
    before: [2, 1],
    pattern: /(?<!\w)[XYZ]-?\d{7}-?[A-Z](?!\w)/y,
    isValid: (id) => isIdentityCard(id, 'ES'),
  },
  {
    first: [2],
    before: [6],
    pattern: /(?<!\w)[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z](?!\w)/iy,
    isValid: (id) => isTaxID(id.toUpperCase(), 'it-IT'),
  },
  {
    first: [11],
    pattern: /(?<!\w)\d{11}(?!\w)/y,
    isValid: (id) => isIdentityCard(id, 'PL'),
    context: near('pesel'),
  },
  { first: [3], pattern: /(?<!\w)\d{3}\.\d{3}\.\d{3}-\d{2}(?!\w)/y, isValid: (id) => isTaxID(id, 'pt-BR') },
  {
    first: [11],
    pattern: /(?<!\w)\d{11}(?!\w)/y,
    isValid: (id) => isTaxID(id, 'pt-BR'),
    context: near('\\bcpf\\b'),
  },
  {
    first: [1, 3, 5, 7, 10, 13, 15],
    pattern: /(?<!\w)[12] ?\d{2} ?\d{2} ?\d{2} ?\d{3} ?\d{3} ?\d{2}(?!\w)/y,
    isValid: (id) => Number(BigInt(id.slice(0, 13)) % 97n) === 97 - Number(id.slice(13)),
    context: near('s[ée]curit[ée] sociale|\\bnir\\b|n°? ?ss'),
  },
  {
    first: [2, 5, 8, 11],
    pattern: /(?<!\w)\d{2} ?\d{3} ?\d{3} ?\d{3}(?!\w)/y,
    isValid: (id) => isTaxID(id, 'de-DE'),
    context: near('steuer-?(?:id|identifikation\\w*|nummer)|\\bidnr'),
  },
  {
    first: [9],
    pattern: /(?<!\w)\d{9}(?!\w)/y,
    isValid: (id) => isTaxID(id, 'nl-NL'),
    context: near('\\bbsn\\b|burgerservice\\w*'),
  },
  {
    first: [4, 8, 12],
    pattern: /(?<!\w)\d{4} ?\d{4} ?\d{4}(?!\w)/y,
    isValid: (id) => isIdentityCard(id, 'IN'),
    context: near('aadhaa?r|आधार'),
  },
  {
    first: [17, 18],
    pattern: /(?<!\w)\d{17}[\dX](?!\w)/y,
    isValid: (id) => isIdentityCard(id, 'zh-CN'),
    context: near('身份证|id card'),
  },
]

const RIGHT_THERE = [0]
/** For each the lengths of its first group as bits. */
const FIRST = IDS.map(({ first }) => first.reduce((bits, length) => bits | (1 << length), 0))
const MOST_OF_GROUP = 18

/** The fewest digits of any of them, and how near each other these stand from the first on. */
const FEWEST = 6
const NEAR = 12

/** Numbers a state gives a person: the American one, and others by form, check digit or the word before them. */
export const findNationalIds: Find = (text) => {
  const found: Place[] = []
  const likely = likelyGroups(digitGroups(text))
  for (const [which, id] of IDS.entries()) {
    for (let place = 0; place < likely.length; place += 2) {
      const length = likely[place + 1]! - likely[place]!
      if ((FIRST[which]! >>> length) & 1) addId(found, text, id, likely[place]!)
    }
  }
  return found
}

/** Groups any of them can begin with: enough digits stand near each other from there on. */
function likelyGroups(groups: readonly number[]): readonly number[] {
  const likely: number[] = []
  for (let place = 0; place < groups.length; place += 2) {
    const start = groups[place]!
    let digits = 0
    for (let next = place; next < groups.length && groups[next]! < start + NEAR; next += 2) {
      digits += Math.min(groups[next + 1]!, start + NEAR) - groups[next]!
    }
    if (digits >= FEWEST && groups[place + 1]! - start <= MOST_OF_GROUP) likely.push(start, groups[place + 1]!)
  }
  return likely
}

function addId(found: Place[], text: string, { before = RIGHT_THERE, pattern, isValid, context }: Id, digit: number) {
  for (const units of before) {
    const start = digit - units
    pattern.lastIndex = Math.max(0, start)
    if (start < 0 || !pattern.test(text)) continue
    const end = pattern.lastIndex
    if (context && !followsWord(text, start, context)) continue
    if (isValid(text.slice(start, end).replace(/[ .-]/g, ''))) found.push({ start, end })
  }
}
