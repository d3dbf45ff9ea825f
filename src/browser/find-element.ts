import type { ElementHandle, Page } from 'puppeteer-core'
import { ToolFailure } from '../tools'
import { clickItself } from './in-page'
import { type LiveBrowser, within } from './live'
import { type Element, type Refs, readTree } from './tree'

/** What a step does with its target. */
type Kind = 'press' | 'write' | 'options' | 'tick' | 'any'

const ROLES: Record<Kind, ReadonlySet<string> | null> = {
  press: new Set([
    'button',
    'link',
    'tab',
    'menuitem',
    'menuitemcheckbox',
    'menuitemradio',
    'option',
    'checkbox',
    'radio',
    'switch',
    'treeitem',
    'DisclosureTriangle',
    'combobox',
    'textbox',
    'searchbox',
  ]),
  write: new Set([
    'textbox',
    'searchbox',
    'combobox',
    'spinbutton',
    'Date',
    'DateTime',
    'InputTime',
    'slider',
    'ColorWell',
  ]),
  options: new Set(['combobox', 'listbox', 'radiogroup', 'menu', 'MenuListPopup']),
  tick: new Set(['checkbox', 'switch', 'radio', 'menuitemcheckbox', 'menuitemradio']),
  any: null,
}

/** Preferred roles for a press when several elements have the same name. */
const LIKELY = new Set(['button', 'link', 'tab', 'menuitem', 'checkbox', 'radio', 'switch'])

const NOUNS =
  /\b(?:button|link|field|box|text ?box|input|checkbox|option|tab|menu|item|icon|drop-?down|selector|radio|switch|toggle|slider|picture|image|entry)\b/gi
const NOUN_ROLES: [RegExp, ReadonlySet<string>][] = [
  [/\bbutton\b/i, new Set(['button'])],
  [/\blink\b/i, new Set(['link'])],
  [/\btab\b/i, new Set(['tab'])],
  [/\bcheckbox\b/i, new Set(['checkbox', 'switch'])],
  [/\bradio\b/i, new Set(['radio'])],
]
const ORDINALS: Record<string, number> = {
  first: 0,
  '1st': 0,
  second: 1,
  '2nd': 1,
  third: 2,
  '3rd': 2,
  fourth: 3,
  '4th': 3,
  fifth: 4,
  '5th': 4,
  last: -1,
}
const ORDINAL = new RegExp(`\\b(${Object.keys(ORDINALS).join('|')})\\b`, 'i')
/** `Add to cart` **for** `the blue mug`. */
const PLACE = /^(.+?) (?:for|of|next to|beside|in|on|under|from|at)(?: the)? (.+)$/i

const MAX_PHRASE = 1_000

type Found = { element: Element; score: number }

const plain = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

const wordsOf = (text: string): string[] =>
  plain(text)
    .split(' ')
    .filter((word) => word && !SMALL.has(word))
const SMALL = new Set(['the', 'a', 'an', 'to', 'of', 'on', 'in', 'my', 'your', 'this', 'that'])

/** Lowest score at which a target counts as found. */
const ENOUGH = 0.62

/**
 * The element that a phrase names, among those that fit this kind of step. Null if no name matches well enough. Of
 * equal matches takes the first, or the one with the given number (`the second Add to cart`).
 */
function findElement(elements: readonly Element[], phrase: string, kind: Kind): Found | null {
  const whole = findBy(elements, phrase, null, kind)
  if (whole && whole.score >= 0.9) return whole
  const [, what, place] = PLACE.exec(phrase.slice(0, MAX_PHRASE)) ?? []
  const placed = what && place ? findBy(elements, what, place, kind) : null
  const best = [whole, placed].filter((found) => found !== null).sort((a, b) => b.score - a.score)[0]
  return best && best.score >= ENOUGH ? best : null
}

function findBy(elements: readonly Element[], phrase: string, place: string | null, kind: Kind): Found | null {
  const nth = ORDINALS[ORDINAL.exec(phrase)?.[1]?.toLowerCase() ?? ''] ?? null
  const counted = nth === null ? phrase : phrase.replace(ORDINAL, ' ')
  const wanted = NOUN_ROLES.find(([noun]) => noun.test(counted))?.[1] ?? null
  const short = counted.replace(NOUNS, ' ')
  const roles = ROLES[kind]
  const scored = elements
    .filter(({ role, disabled, name }) => !disabled && (!roles || roles.has(role)) && (kind !== 'any' || name))
    .map((element) => ({ element, score: scoreOf(element, [counted, short], { wanted, place, kind }) }))
    .filter(({ score }) => score > 0)
  const top = Math.max(0, ...scored.map(({ score }) => score))
  const best = scored.filter(({ score }) => score >= top - 1e-9)
  if (nth !== null) {
    // A noun alone can also be the name: `the second checkbox`.
    const all = plain(short)
      ? scored.filter(({ score }) => score >= Math.min(top, 0.95) - 1e-9)
      : elements.filter(({ role }) => (wanted ?? roles)?.has(role)).map((element) => ({ element, score: 0.9 }))
    return all.at(nth) ?? null
  }
  return best[0] ?? null
}

type ElementQuery = { wanted: ReadonlySet<string> | null; place: string | null; kind: Kind }

function scoreOf(element: Element, phrases: readonly string[], { wanted, place, kind }: ElementQuery): number {
  const named = Math.max(...phrases.map((phrase) => similarity(phrase, element.name)))
  if (named === 0) return 0
  let score = named
  // The noun may be part of the name: `Close tab`.
  const isWhole = similarity(phrases[0]!, element.name) >= 0.98
  if (wanted) score += wanted.has(element.role) ? 0.02 : isWhole ? 0 : -0.1
  if (kind === 'press' && LIKELY.has(element.role)) score += 0.01
  if (place === null) return score
  const near = Math.max(0, ...element.around.map((words, at) => (has(words, place) ? 1 - at * 0.08 : 0)))
  return near ? score - 0.02 + near * 0.05 : score * 0.5
}

function has(words: string, place: string): boolean {
  const inside = new Set(wordsOf(words))
  const wanted = wordsOf(place.replace(NOUNS, ' ').replace(/\b(?:row|section|card|product|column)\b/gi, ' '))
  return wanted.length > 0 && wanted.every((word) => inside.has(word))
}

/** How well a phrase matches a name, from 0 to 1. */
export function similarity(phrase: string, name: string): number {
  const [a, b] = [plain(phrase), plain(name)]
  if (!a || !b) return 0
  if (a === b) return 1
  const [left, right] = [wordsOf(phrase), wordsOf(name)]
  if (left.length && left.join(' ') === right.join(' ')) return 0.98
  const there = new Set(right)
  const shared = left.filter(
    (word) => there.has(word) || (word.length > 3 && right.some((other) => stem(other) === stem(word))),
  ).length
  if (!shared) return 0
  const covered = shared / left.length
  const stated = shared / Math.max(right.length, 1)
  // A phrase matches if all its words are in the name, or all words of the name are in the phrase.
  if (covered === 1) return 0.8 + 0.15 * stated
  if (stated === 1) return 0.62 + 0.25 * covered
  return 0.6 * covered * (0.5 + 0.5 * stated)
}

const stem = (word: string): string => word.replace(/(?:ing|ed|es|s)$/, '')

/** The element that was acted on, in readable form. */
type Target = { role: string; name: string }
export type ActionOutcome = { action: string; target: Target | null; secret?: boolean }

export type PageAction = {
  live: LiveBrowser
  refs: Refs
  signal: AbortSignal
  /** Number of steps done. */
  done: number
  /** Asks the viewers to take control, and waits until they have returned it. */
  askPerson(why: string): Promise<void>
}

const SETTLE_MS = 1_500
const QUIET_MS = 60

/** Clicks at the element's position. An element that is covered or has no box is clicked by its own method. */
export async function clickOn(handle: ElementHandle, times = 1): Promise<void> {
  try {
    await handle.click({ count: times })
  } catch {
    await handle.evaluate(clickItself)
  }
}

const WHAT: Record<Kind, string> = {
  press: 'to click',
  write: 'to type into',
  options: 'to choose from',
  tick: 'to check',
  any: 'visible',
}

/** The element that a phrase names now. Retries for a while, because the page may still be rendering. */
export async function resolveElement(doing: PageAction, phrase: string, kind: Kind, fixed: Element | null) {
  for (let attempt = 0; ; attempt++) {
    const element = fixed ?? find(await readTree(doing.live.page(), doing.refs), phrase, kind)
    const handle = element && (await element.handle().catch(() => null))
    if (element && handle) return { element, handle }
    if (attempt === 4 || fixed)
      throw new ToolFailure(`Nothing ${WHAT[kind]} on this page has the name ${JSON.stringify(phrase)}.`)
    await settle(doing.live.page(), 400)
  }
}

/** The element for a phrase: by its `browser_observe` reference, else by its name. */
export const find = (elements: readonly Element[], phrase: string, kind: Kind): Element | undefined =>
  (/^e\d+$/.test(phrase) ? elements.find(({ ref }) => ref === phrase) : undefined) ??
  findElement(elements, phrase, kind)?.element

export const acted = (verb: string, { role, name }: Element): ActionOutcome => ({
  action: `${verb} ${role} ${JSON.stringify(name)}`,
  target: { role, name },
})

/** Waits briefly until a page has finished the effects of an action: its navigation, or its requests. */
export async function settle(page: Page, max = SETTLE_MS): Promise<void> {
  if (page.isClosed()) return
  await within(
    page.evaluate((ms) => new Promise((done) => setTimeout(done, ms)), QUIET_MS),
    undefined,
    max,
  )
  if (page.isClosed()) return
  await within(page.waitForNetworkIdle({ idleTime: QUIET_MS, timeout: max, concurrency: 2 }), undefined, max)
  await within(
    page.waitForFunction(() => document.readyState !== 'loading', { timeout: max }),
    null,
    max,
  )
}
