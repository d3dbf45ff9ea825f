import isIdentityCard from 'validator/lib/isIdentityCard'
import isLuhnNumber from 'validator/lib/isLuhnNumber'
import isTaxID from 'validator/lib/isTaxID'
import { type Find, followsWord } from './personal-data-kind'
import { digitGroups } from './personal-data-numbers'
import type { TextSpan } from './schema'

type Id = {
  /** The possible lengths of its first group of digits, with and without separators. */
  first: readonly number[]
  /** Number of characters of the id before that group. 0 by default. */
  before?: readonly number[]
  pattern: RegExp
  /** Further checks of the id without separators. */
  isValid?(compact: string): boolean
  /** Words of which one must precede the id. Omitted if the form is sufficient. */
  context?: RegExp
}

const near = (words: string): RegExp => new RegExp(`(?:${words})[^\\d\\n]{0,24}$`, 'iu')
const US_WORDS = near('ssn|social security|taxpayer|\\bitin\\b|sozialversicherung')
/** Some numbers are never issued (ssa.gov): the areas 000, 666 and from 900 on, the group 00, the serial 0000. */
const isUsNumber = (id: string): boolean => /^(?!000|666|9)\d{3}(?!00)\d{2}(?!0000)\d{4}$/.test(id)

const sumOf = (digits: readonly number[], weights: readonly number[]): number =>
  digits.reduce((sum, digit, at) => sum + digit * weights[at]!, 0)

/** The values of the characters in the tax number of Mexico (SAT). The number of a company begins with a blank. */
const RFC = '0123456789ABCDEFGHIJKLMN&OPQRSTUVWXYZ Ñ'
const isMexicanTaxNumber = (id: string): boolean => {
  const values = [...id.toUpperCase().padStart(13)].map((sign) => RFC.indexOf(sign))
  const rest = sumOf(values, [13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 0]) % 11
  return values[12] === (11 - rest) % 11
}

/** A check digit that makes the weighted sum a multiple of eleven. */
const isOfEleven = (id: string): boolean => sumOf([...id].map(Number), [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0

/** Numbers that one of these words precedes, and what checks them: a locale of the library, or a function. */
const NAMED: readonly (readonly [words: string, pattern: RegExp, first: number[], check: string | Id['isValid']])[] = [
  // India: PAN and GSTIN
  ['\\bpan\\b|permanent account', /(?<!\w)[A-Z]{3}[ABCFGHJLPT][A-Z]\d{4}[A-Z](?!\w)/iy, [-5, 4], () => true],
  ['gstin|\\bgst', /(?<!\w)\d{2}[A-Z]{5}\d{4}[A-Z][A-Z\d]Z[A-Z\d](?!\w)/iy, [2], () => true],
  // United States: ITIN. United Kingdom: NHS
  ['\\bitin\\b|taxpayer', /(?<![\w-])9\d{2}[ -]?[5-9]\d[ -]?\d{4}(?![\w-])/y, [3, 5, 9], () => true],
  ['\\bnhs', /(?<!\w)\d{3}[ -]?\d{3}[ -]?\d{4}(?!\w)/y, [3, 10], isOfEleven],
  // Europe, by country
  ['\\bpps', /(?<!\w)\d{7}[A-W][A-IW]?(?!\w)/iy, [7], 'en-IE'],
  [
    '\\bsvnr|sozialversicherung(?:snummer)?|\\bsv-n',
    /(?<!\w)\d{4} ?\d{6}(?!\w)/y,
    [4, 10],
    (id) => sumOf([...id].map(Number), [3, 7, 9, 0, 5, 8, 4, 2, 1, 6]) % 11 === Number(id[3]),
  ],
  ['\\bcnp\\b|cod numeric', /(?<!\w)\d{13}(?!\w)/y, [13], 'ro-RO'],
  ['егн|\\begn', /(?<!\w)\d{10}(?!\w)/y, [10], 'bg-BG'],
  ['αφμ|α\\.φ\\.μ|\\bafm', /(?<!\w)\d{9}(?!\w)/y, [9], 'el-GR'],
  ['\\boib', /(?<!\w)\d{11}(?!\w)/y, [11], 'hr-HR'],
  ['asmens kod|isikukood', /(?<!\w)\d{11}(?!\w)/y, [11], 'et-EE'],
  ['рнокпп|ідентифікаційний', /(?<!\w)\d{10}(?!\w)/y, [10], 'uk-UA'],
  // Asia, by country
  [
    'บัตรประชาชน|ประจำตัวประชาชน|thai id|national id',
    /(?<!\w)\d[ -]?\d{4}[ -]?\d{5}[ -]?\d{2}[ -]?\d(?!\w)/y,
    [1, 13],
    (id) => isIdentityCard(id, 'TH'),
  ],
  ['\\bcnic|national id', /(?<!\w)\d{5}-?\d{7}-?\d(?!\w)/y, [5, 13], () => true],
  [
    '身[分份]證|身分证|national id|taiwan',
    /(?<!\w)[A-Z][12]\d{8}(?!\w)/iy,
    [-1, 9],
    (id) => isIdentityCard(id, 'zh-TW'),
  ],
  ['\\bhkid|身份證|identity card', /(?<!\w)[A-Z]\d{6}\(?[\dA]\)?(?!\w)/iy, [-1, 6, 7], () => true],
  ['emirates id|\\beid', /(?<!\w)784-?\d{4}-?\d{7}-?\d(?!\w)/y, [3, 15], () => true],
  ['\\bnik\\b|\\bktp', /(?<!\w)\d{16}(?!\w)/y, [16], () => true],
  ['my ?kad|\\bnric|\\bic n', /(?<!\w)\d{6}-\d{2}-\d{4}(?!\w)/y, [6], () => true],
]

const IDS: readonly Id[] = [
  ...NAMED.map(
    ([words, pattern, lengths, check]): Id => ({
      first: lengths.filter((length) => length > 0),
      before: lengths.some((length) => length < 0) ? [-lengths[0]!] : [0],
      pattern,
      isValid: typeof check === 'string' ? (id) => isTaxID(id, check) : check,
      context: near(words),
    }),
  ),
  // United States: SSN
  { first: [3], pattern: /(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])/y, isValid: isUsNumber },
  {
    first: [3, 5, 9],
    pattern: /(?<![\w-])\d{3}[ .]?\d{2}[ .]?\d{4}(?![\w-])/y,
    isValid: isUsNumber,
    context: US_WORDS,
  },
  // United Kingdom: National Insurance
  {
    first: [2, 4, 6],
    before: [3, 2],
    pattern: /(?<!\w)[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D](?!\w)/iy,
    context: near('national insurance|\\bnino\\b|\\bni (?:no|number)|\\bni'),
  },
  // Spain: DNI
  { first: [8], pattern: /(?<!\w)\d{8}-?[A-Z](?!\w)/y, isValid: (id) => isIdentityCard(id, 'ES') },
  // Spain: NIE
  {
    first: [7],
    before: [2, 1],
    pattern: /(?<!\w)[XYZ]-?\d{7}-?[A-Z](?!\w)/y,
    isValid: (id) => isIdentityCard(id, 'ES'),
  },
  // Italy: codice fiscale
  {
    first: [2],
    before: [6],
    pattern: /(?<!\w)[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z](?!\w)/iy,
    isValid: (id) => isTaxID(id.toUpperCase(), 'it-IT'),
  },
  // Poland: PESEL
  {
    first: [11],
    pattern: /(?<!\w)\d{11}(?!\w)/y,
    isValid: (id) => isIdentityCard(id, 'PL'),
    context: near('pesel'),
  },
  // Brazil: CPF
  { first: [3], pattern: /(?<!\w)\d{3}\.\d{3}\.\d{3}-\d{2}(?!\w)/y, isValid: (id) => isTaxID(id, 'pt-BR') },
  {
    first: [11],
    pattern: /(?<!\w)\d{11}(?!\w)/y,
    isValid: (id) => isTaxID(id, 'pt-BR'),
    context: near('\\bcpf\\b'),
  },
  // Brazil: CNPJ
  { first: [2], pattern: /(?<!\w)\d{2}\.\d{3}\.\d{3}\/\d{4}-\d{2}(?!\w)/y, isValid: (id) => isTaxID(id, 'pt-BR') },
  {
    first: [14],
    pattern: /(?<!\w)\d{14}(?!\w)/y,
    isValid: (id) => isTaxID(id, 'pt-BR'),
    context: near('\\bcnpj\\b'),
  },
  // France: NIR
  {
    first: [1, 3, 5, 7, 10, 13, 15],
    pattern: /(?<!\w)[12] ?\d{2} ?\d{2} ?\d{2} ?\d{3} ?\d{3} ?\d{2}(?!\w)/y,
    isValid: (id) => Number(BigInt(id.slice(0, 13)) % 97n) === 97 - Number(id.slice(13)),
    context: near('s[ée]curit[ée] sociale|\\bnir\\b|\\binsee|n°? ?ss'),
  },
  // Germany: tax id
  {
    first: [2, 5, 8, 11],
    pattern: /(?<!\w)\d{2} ?\d{3} ?\d{3} ?\d{3}(?!\w)/y,
    isValid: (id) => isTaxID(id, 'de-DE'),
    context: near('steuer-?(?:id|identifikation\\w*|nummer)|\\bidnr'),
  },
  // Netherlands: BSN
  {
    first: [9],
    pattern: /(?<!\w)\d{9}(?!\w)/y,
    isValid: (id) => isTaxID(id, 'nl-NL'),
    context: near('\\bbsn\\b|burgerservice\\w*'),
  },
  // India: Aadhaar
  {
    first: [4, 8, 12],
    pattern: /(?<!\w)\d{4} ?\d{4} ?\d{4}(?!\w)/y,
    isValid: (id) => isIdentityCard(id, 'IN'),
    context: near('aadhaa?r|आधार'),
  },
  // Sweden: personnummer
  {
    first: [6, 8],
    pattern: /(?<!\w)(?:19|20)?\d{6}[-+]?\d{4}(?!\w)/y,
    isValid: (id) => isLuhnNumber(id.replace(/\D/g, '').slice(-10)),
    context: near('personnummer|samordningsnummer'),
  },
  // Norway: fødselsnummer
  {
    first: [6, 11],
    pattern: /(?<!\w)\d{6} ?\d{5}(?!\w)/y,
    isValid: (id) => isIdentityCard(id, 'NO'),
    context: near('f[øo]dsels-?(?:nummer|nr)|personnummer|d-nummer'),
  },
  // Canada: SIN
  {
    first: [3, 9],
    pattern: /(?<!\w)\d{3}[ -]?\d{3}[ -]?\d{3}(?!\w)/y,
    isValid: isLuhnNumber,
    context: near('\\bsin\\b|social insurance|assurance sociale'),
  },
  // Switzerland: AHV, with the country's own beginning
  { first: [3], pattern: /(?<!\w)756\.\d{4}\.\d{4}\.\d{2}(?!\w)/y },
  // Mexico: CURP
  { first: [6], before: [4], pattern: /(?<!\w)[A-Z]{4}\d{6}[HMX][A-Z]{5}[A-Z\d]\d(?!\w)/iy },
  // Mexico: RFC
  {
    first: [6, 7, 8, 9],
    before: [4, 3],
    pattern: /(?<![\wÑñ&])[A-ZÑ&]{3,4}\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[A-Z\d]{2}[\dA](?!\w)/iy,
    isValid: isMexicanTaxNumber,
    context: near('\\brfc\\b|registro federal'),
  },
  // Australia: TFN
  {
    first: [3, 9],
    pattern: /(?<!\w)\d{3}[ -]?\d{3}[ -]?\d{3}(?!\w)/y,
    isValid: (id) => sumOf([...id].map(Number), [1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 === 0,
    context: near('\\btfn\\b|tax file'),
  },
  // China: resident id
  {
    first: [17, 18],
    pattern: /(?<!\w)\d{17}[\dX](?!\w)/y,
    isValid: (id) => isIdentityCard(id, 'zh-CN'),
    context: near('身份证|id card'),
  },
  // Finland: henkilötunnus
  { first: [6], pattern: /(?<!\w)\d{6}[-+A-FU-Y]\d{3}[\dA-FHJ-NPR-Y](?!\w)/y, context: near('henkil[öo]tunnus|hetu') },
  // Denmark: CPR
  { first: [6, 10], pattern: /(?<!\w)\d{6}-?\d{4}(?!\w)/y, context: near('\\bcpr') },
  // Belgium: rijksregister
  {
    first: [2, 6, 11],
    pattern: /(?<!\w)\d{2}\.?\d{2}\.?\d{2}[- ]?\d{3}[. ]?\d{2}(?!\w)/y,
    isValid: (id) => ['', '2'].some((century) => 97 - (Number(century + id.slice(0, 9)) % 97) === Number(id.slice(9))),
    context: near('rijksregister|registre national|num[ée]ro national|insz|niss'),
  },
  // Korea: resident registration
  {
    first: [6, 13],
    pattern: /(?<!\w)\d{6}-?[1-8]\d{6}(?!\w)/y,
    context: near('주민(?:등록)?번호|resident registration'),
  },
  // Japan: My Number
  {
    first: [4, 12],
    pattern: /(?<!\w)\d{4}[ -]?\d{4}[ -]?\d{4}(?!\w)/y,
    context: near('マイナンバー|個人番号|my ?number'),
  },
  // Singapore: NRIC
  {
    first: [7],
    before: [1],
    pattern: /(?<!\w)[STFGM]\d{7}[A-Z](?!\w)/iy,
    context: near('\\bnric|\\bfin\\b|identity card'),
  },
  // Chile: RUT
  {
    first: [1, 2],
    pattern: /(?<!\w)\d{1,2}\.\d{3}\.\d{3}-[\dkK](?!\w)/y,
    isValid: (id) => {
      const rest = 11 - (sumOf([...id.slice(0, -1)].reverse().map(Number), [2, 3, 4, 5, 6, 7, 2, 3]) % 11)
      return id.slice(-1).toUpperCase() === (rest === 11 ? '0' : rest === 10 ? 'K' : String(rest))
    },
  },
  // Argentina: CUIL and CUIT
  {
    first: [2, 11],
    pattern: /(?<!\w)\d{2}-?\d{8}-?\d(?!\w)/y,
    isValid: (id) => isTaxID(id, 'es-AR'),
    context: near('\\bcui[lt]\\b'),
  },
  // Turkey: kimlik
  {
    first: [11],
    pattern: /(?<!\w)[1-9]\d{10}(?!\w)/y,
    isValid: (id) => sumOf([...id.slice(0, 10)].map(Number), Array(10).fill(1)) % 10 === Number(id[10]),
    context: near('kimlik|tckn'),
  },
  // Israel: teudat zehut
  {
    first: [9],
    pattern: /(?<!\w)\d{9}(?!\w)/y,
    isValid: (id) => isIdentityCard(id, 'he-IL'),
    context: near('ת\\.?ז|תעודת זהות|teudat zehut'),
  },
  // Russia: SNILS
  { first: [3, 11], pattern: /(?<!\w)\d{3}-?\d{3}-?\d{3}[- ]?\d{2}(?!\w)/y, context: near('снилс|snils') },
  // South Africa: id
  {
    first: [13],
    pattern: /(?<!\w)\d{13}(?!\w)/y,
    isValid: isLuhnNumber,
    context: near('\\bid(?:entity)?(?:[ -]?n(?:umber|ommer|o))?\\b'),
  },
  // Spain: social security
  {
    first: [2, 12],
    pattern: /(?<!\w)\d{2}[ /]?\d{8}[ /]?\d{2}(?!\w)/y,
    isValid: (id) => Number(id.slice(0, 10)) % 97 === Number(id.slice(10)),
    context: near('seguridad social|\\bnuss\\b'),
  },
  // Portugal: NIF
  {
    first: [3, 9],
    pattern: /(?<!\w)\d{3} ?\d{3} ?\d{3}(?!\w)/y,
    isValid: (id) => isTaxID(id, 'pt-PT'),
    context: near('\\bnif\\b|contribuinte'),
  },
  // Czechia and Slovakia: rodné číslo
  { first: [6], pattern: /(?<!\w)\d{6}\/\d{3,4}(?!\w)/y, context: near('rodn[ée] č[ií]slo') },
]

const RIGHT_THERE = [0]
/** The possible lengths of each id's first group, as bits. */
const FIRST = IDS.map(({ first }) => first.reduce((bits, length) => bits | (1 << length), 0))
const MAX_OF_GROUP = 18

/** Every id has at least this many digits, within this many characters from its first digit on. */
const FEWEST = 6
const NEAR = 12

/** Finds national id numbers, recognised by form, check digit or the preceding word. */
export const findNationalIds: Find = (text) => {
  const found: TextSpan[] = []
  const likely = likelyGroups(text)
  for (const [which, id] of IDS.entries()) {
    for (let index = 0; index < likely.length; index += 2) {
      const length = likely[index + 1]! - likely[index]!
      if ((FIRST[which]! >>> length) & 1) addId(found, text, id, likely[index]!)
    }
  }
  return found
}

/** The groups of digits with which an id can begin, because enough digits follow nearby, or as one within letters. */
function likelyGroups(text: string): readonly number[] {
  const groups = digitGroups(text)
  const likely: number[] = []
  for (let index = 0; index < groups.length; index += 2) {
    const start = groups[index]!
    let digits = 0
    for (let next = index; next < groups.length && groups[next]! < start + NEAR; next += 2) {
      digits += Math.min(groups[next + 1]!, start + NEAR) - groups[next]!
    }
    const end = groups[index + 1]!
    const isWithin = end - start === 4 && /^[a-z]\d{4}[a-z]$/i.test(text.slice(Math.max(0, start - 1), end + 1))
    if ((digits >= FEWEST || isWithin) && end - start <= MAX_OF_GROUP) likely.push(start, end)
  }
  return likely
}

function addId(
  found: TextSpan[],
  text: string,
  { before = RIGHT_THERE, pattern, isValid, context }: Id,
  digit: number,
) {
  for (const units of before) {
    const start = digit - units
    pattern.lastIndex = Math.max(0, start)
    if (start < 0 || !pattern.test(text)) continue
    const end = pattern.lastIndex
    if (context && !followsWord(text, start, context)) continue
    if (!isValid || isValid(text.slice(start, end).replace(/[ ./-]/g, ''))) found.push({ start, end })
  }
}
