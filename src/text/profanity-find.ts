import { readable } from './injection/readable'
import { isForeignAround, isPlainUse, PLACE, type PlainUses } from './profanity-context'
import { compileEnglish } from './profanity-english-find'
import { reading } from './reading'
import { isEmphasis, unitsOf } from './runs'
import type { Match } from './schema'

/** Compiled terms. `find` returns offsets in the given text. */
type Terms = { find(text: string): { start: number; end: number; term: string }[] }

const isLetter = unitsOf(/[\p{L}\p{N}\p{M}_]/u)

/** Scripts without blanks between words, in which word boundaries are invisible. */
const SPACELESS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u

const CELLS = 1 << 12

const STARTS_WITH = 3

/** What starts with a unit: a term of at least three units, or one that is too short for a cell. */
const BEGINS = 1

const SHORT = 2

const words = (list: string): readonly string[] => list.trim().split(/,\s+/)

/** Rude words of other languages by ISO 639-1 code: whole words, also matched without accents. */
const RUDE: Readonly<Record<string, readonly string[]>> = {
  de: words(`
    arschloch, arschlocher, arschgeige, scheisse, scheiße, scheiß, scheiss, verfickt, verfickte, wichser, hurensohn,
    hurensohne, fotze, fick dich, ficken, missgeburt, schlampe, schwuchtel, verpiss dich, drecksau, pisse,
    pissnelke, wixer, nutte`),
  fr: words(`
    merde, connard, connarde, connasse, salope, salaud, putain, encule, enculer, nique ta mere, fils de pute,
    ta gueule, bordel de merde, couilles, va te faire foutre, petasse`),
  es: words(`
    mierda, puta, puto, hijo de puta, hijueputa, gilipollas, cabron, cabrona, pendejo, pendeja, joder,
    chinga tu madre, chingar, verga, maricon, zorra de mierda, culero, malparido, bastardo, bastarda, bastardos`),
  pt: words('caralho, porra, foda-se, foder, filho da puta, cuzao, buceta, arrombado, viado, vai tomar no cu'),
  it: words(`
    cazzo, stronzo, stronza, vaffanculo, puttana, figlio di puttana, coglione, coglioni, minchia, merda,
    rompicoglioni, testa di cazzo, bastardi`),
  nl: words('klootzak, kut, godverdomme, kankerhoer, hoerenjong, flikker op, rot op'),
  sv: words('jävla, jävlar, fitta, knulla, horunge, kuksugare, fan ta dig'),
  no: words('faen, jævla, hestkuk, fitte'),
  fi: words('perkele, vittu, kusipää, huora'),
  pl: words('kurwa, kurwy, chuj, chuja, pierdole, pierdol sie, spierdalaj, skurwysyn, jebac, jebany, dupek'),
  // Ukrainian too
  ru: words(`
    блядь, блять, сука, хуй, хуйня, хуесос, пизда, пиздец, ебать, ебаный, еблан, мудак, пидор, заебал, нахуй,
    гандон, долбоеб`),
  tr: words('amk, orospu, orospu cocugu, siktir, siktir git, yarrak, gotveren, ibne, amına koyayım'),
  ar: words('كس امك, شرموطة, عرص, ابن الشرموطة, منيك'),
  hi: words('मादरचोद, भेनचोद, बहनचोद, चूतिया, रंडी, भोसड़ीके'),
  zh: words('操你妈, 他妈的, 傻逼, 肏, 滚蛋, 王八蛋, 狗娘养的, 草泥马'),
  ja: words('クソ野郎, くそったれ, ちんぽ, まんこ'),
  ko: words('씨발, 시발, 개새끼, 병신, 좆, 지랄, 쌍년'),
}

/** Words that are harmless in other languages, with the languages in which they are rude. */
const PLAIN_ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  fitta: ['sv'],
  foder: ['pt'],
  joder: ['es', 'ca'],
  kut: ['nl'],
  nutte: ['de'],
  porra: ['pt'],
  puta: ['es', 'pt', 'ca', 'tl'],
  puto: ['es'],
  salope: ['fr'],
  siktir: ['tr'],
  verga: ['es'],
}

/** Japanese has no blanks, so a word may appear across two others: `がまんこそ`. Bastardo is a town in Umbria. */
const PLAIN_USES: PlainUses = { まんこ: /[ぁ-えか-ん]\[/, bastardo: PLACE }

/*
 * Hand-written, because maintained lists find less and have more false positives. Of the 131 rude spellings and 56
 * harmless sentences in tests/guardrails/profanity.test.ts, obscenity finds 108 and flags 48, glin-profanity 84 and 18,
 * @2toad/profanity 64 and 22. None of them covers the other languages. With all its languages, glin flags every tenth
 * everyday text.
 */

/** Finds rude words of many languages, with offsets in the original text. Compiled once for all callers. */
export function profanityFinder(): (text: string) => Match[] {
  const english = compileEnglish()
  const others = compileTerms(Object.values(RUDE).flat(), true)
  return (text) => {
    const view = reading(text)
    // A rude word of one language may be harmless in another: `foder` is fodder in Danish.
    const rude = others.find(view.text).filter((one) => {
      if (isPlainUse(PLAIN_USES, one.term, view.text, { start: one.start, end: one.end })) return false
      const languages = PLAIN_ELSEWHERE[one.term]
      return !languages || !isForeignAround(view.text, { start: one.start, end: one.end }, languages)
    })
    const found = [...english(view), ...rude].sort((a, b) => a.start - b.start)
    const apart = found.filter(({ start }, index) => index === 0 || start >= found[index - 1]!.end)
    return apart.map(({ start, end }) => ({ ...view.span(start, end), kind: 'profanity' }))
  }
}

/**
 * Finds all terms in one pass over a text made readable. Terms are normalized the same way, so case, accents and width
 * do not matter. With `asWords` a term must be a whole word.
 */
export function compileTerms(terms: readonly string[], asWords: boolean): Terms {
  const known = [...new Set(terms.map((term) => readable(term).text.trim()).filter(Boolean))]
  // The longest first, so that the longest of several terms at a position is found.
  known.sort((a, b) => b.length - a.length)
  const byFirst = Map.groupBy(known, (term) => term.charCodeAt(0))
  const byCell = Map.groupBy(known, (term) => cellOf(term, 0))
  const { firsts, starts } = startsOf(known)
  return {
    find(text) {
      const found = []
      let code = 0
      for (let at = 0; at < text.length; at++) {
        const before = code
        code = text.charCodeAt(at)
        // No term begins inside a word, which excludes most positions.
        if (asWords && before >= 97 && before <= 122 && code >= 97 && code <= 122) continue
        const first = firsts[code]!
        if (first === 0) continue
        const cell = cellOf(text, at)
        if (!(first & SHORT) && !starts[cell]) continue
        if (asWords && !isEdge(text, at, at)) continue
        const terms = (first & SHORT ? byFirst.get(code) : byCell.get(cell))!
        const term = terms.find((one) => text.startsWith(one, at) && (!asWords || isEdge(text, at + one.length, at)))
        if (!term) continue
        found.push({ start: at, end: at + term.length, term })
        at += term.length - 1
        code = text.charCodeAt(at)
      }
      return found
    },
  }
}

/** Hash of the three units at a position, or 0 if the text ends earlier. */
function cellOf(text: string, at: number): number {
  if (at + STARTS_WITH > text.length) return 0
  return ((text.charCodeAt(at) << 10) ^ (text.charCodeAt(at + 1) << 5) ^ text.charCodeAt(at + 2)) & (CELLS - 1)
}

/** The units, and the hashes of three units, with which terms begin. They rule out most of a text. */
function startsOf(terms: readonly string[]): { firsts: Uint8Array; starts: Uint8Array } {
  const firsts = new Uint8Array(1 << 16)
  const starts = new Uint8Array(CELLS)
  for (const term of terms) {
    firsts[term.charCodeAt(0)]! |= term.length < STARTS_WITH ? SHORT : BEGINS
    if (term.length >= STARTS_WITH) starts[cellOf(term, 0)] = 1
  }
  return { firsts, starts }
}

/** Whether a word may begin or end at `at`. `inside` is an offset within the term. */
function isEdge(text: string, at: number, inside: number): boolean {
  if (at === 0 || at >= text.length || !isLetter(text.charCodeAt(at - 1)) || !isLetter(text.charCodeAt(at))) return true
  if (inside === at ? isEmphasis(text, at - 1, -1) : isEmphasis(text, at, 1)) return true
  return text.charCodeAt(inside) > 0x7f && SPACELESS.test(text[inside]!)
}
