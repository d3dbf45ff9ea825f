import type { JsonSchema } from '../engines'
import type { Draft } from '../files'
import { ToolFailure } from '../tools'
import { follow } from './act'
import type { Deps } from './deps'
import { extract } from './extract'
import { type ActionOutcome, type PageAction, settle, similarity } from './find-element'
import type { OpenSession } from './host'
import { collectContent, type PageContent } from './in-page'
import { within } from './live'
import { goTo, readAddress } from './navigate'
import type { BrowserTool } from './schema'
import { ACTIVE } from './snapshot'
import type { Thinker } from './think'
import { type Element, readTree } from './tree'

export type Arguments = Record<string, unknown>

/** Result of a tool: the value for the caller, the element it acted on, and a picture to store as a file. */
export type Performed = {
  result: unknown
  target: ActionOutcome['target']
  draft?: Draft
  /** True if it typed into a password field, so that nothing of it is recorded. */
  secret?: boolean
}

type Performing = Pick<Deps, 'outbound' | 'files' | 'control'> & { thinker: Thinker }

const MAX_ELEMENTS = 200
const MAX_PICTURE_HEIGHT = 8_000

/** Runs one tool on a session. Throws {@link ToolFailure} with a message for the caller. */
export async function perform(
  deps: Performing,
  session: OpenSession,
  tool: BrowserTool,
  args: Arguments,
  signal: AbortSignal,
): Promise<Performed> {
  signal.throwIfAborted()
  switch (tool) {
    case 'browser_navigate':
      return navigate(deps, session, args as NavigateArguments)
    case 'browser_act':
      return act(deps, session, args as ActArguments, signal)
    case 'browser_observe':
      return observe(session, args as { instruction?: string })
    case 'browser_extract':
      return extractFrom(deps, session, args as ExtractArguments, signal)
    case 'browser_screenshot':
      return screenshot(deps, session, args as { full_page?: boolean })
  }
}

type NavigateArguments = { url: string; wait_until?: 'load' | 'domcontentloaded' }

async function navigate({ outbound }: Performing, { live }: OpenSession, args: NavigateArguments): Promise<Performed> {
  const url = await readAddress(outbound, args.url, 'arguments.url')
  const status = await goTo(live, url, args.wait_until ?? 'load')
  const page = live.page()
  return { result: { url: page.url(), title: await within(page.title(), ''), status }, target: null }
}

export type ActArguments = { instruction: string; selector?: string; variables?: Record<string, unknown> }

async function act(
  deps: Performing,
  session: OpenSession,
  args: ActArguments,
  signal: AbortSignal,
): Promise<Performed> {
  const { live, refs } = session
  const fixed = args.selector ? await bySelector(session, args.selector) : null
  live.takeDialogs()
  live.answerDialogs(true)
  const askPerson = (why: string) => deps.control.ask(session, why, signal)
  const doing: PageAction = { live, refs, signal, done: 0, askPerson }
  const acted = await follow(deps.thinker, session, doing, args, fixed).finally(() => live.answerDialogs(true))
  const dialogs = live.takeDialogs()
  const result = { success: true, action: acted.action, url: live.page().url(), ...(dialogs.length ? { dialogs } : {}) }
  return { result, target: acted.target, secret: acted.secret }
}

/** An element by its `browser_observe` reference, or by a CSS selector. */
async function bySelector({ live, refs }: OpenSession, selector: string): Promise<Element> {
  const page = live.page()
  const elements = await readTree(page, refs)
  const known = elements.find(({ ref }) => ref === selector)
  if (known) return known
  const found = /^e\d+$/.test(selector) ? null : await page.$(selector).catch(() => null)
  if (!found) throw new ToolFailure(`Nothing on this page has the selector ${JSON.stringify(selector.slice(0, 100))}.`)
  const name = await found.evaluate((node) =>
    (node.getAttribute('aria-label') ?? node.textContent ?? '').trim().slice(0, 100),
  )
  const bare = {
    ref: selector,
    role: 'element',
    name,
    value: '',
    around: [],
    disabled: false,
    checked: null,
    level: null,
  }
  return { ...bare, handle: async () => found }
}

async function observe({ live, refs }: OpenSession, { instruction }: { instruction?: string }): Promise<Performed> {
  const page = live.page()
  await settle(page)
  const elements = (await readTree(page, refs)).filter(
    ({ role, name, disabled }) => ACTIVE.has(role) && name && !disabled,
  )
  const shown = instruction ? rank(elements, instruction) : elements
  const result = {
    elements: shown.slice(0, MAX_ELEMENTS).map(({ ref, role, name, value, checked }) => ({
      selector: ref,
      role,
      description: [name, value && `(${value})`, checked && '(checked)'].filter(Boolean).join(' '),
    })),
  }
  return { result, target: null }
}

/** The elements that match an instruction, best first. All elements if the instruction names none. */
function rank(elements: readonly Element[], instruction: string): readonly Element[] {
  const roles = ROLE_WORDS.find(([word]) => word.test(instruction))?.[1]
  const ofRole = roles ? elements.filter(({ role }) => roles.includes(role)) : elements
  const scored = ofRole
    .map((element) => ({ element, score: similarity(instruction, element.name) }))
    .filter(({ score }) => score >= 0.3)
    .sort((a, b) => b.score - a.score)
  return scored.length ? scored.map(({ element }) => element) : ofRole
}

const ROLE_WORDS: [RegExp, readonly string[]][] = [
  [/\bbuttons?\b/i, ['button']],
  [/\blinks?\b/i, ['link']],
  [
    /\b(?:fields?|inputs?|text ?box(?:es)?)\b/i,
    ['textbox', 'searchbox', 'combobox', 'spinbutton', 'Date', 'InputTime'],
  ],
  [/\bcheckbox(?:es)?\b/i, ['checkbox', 'switch']],
]

type ExtractArguments = { instruction: string; schema?: JsonSchema }

async function extractFrom(
  { thinker }: Performing,
  session: OpenSession,
  { instruction, schema }: ExtractArguments,
  signal: AbortSignal,
): Promise<Performed> {
  const content = await readContent(session)
  const found = extract(content, instruction, schema)
  if (found.sure) return { result: { data: found.data }, target: null }
  const thought = await thinker.extract(content, instruction, schema, signal)
  if (thought) return { result: { data: thought.data }, target: null }
  return { result: { data: found.data }, target: null }
}

/** The content of the front page and its frames, merged. */
async function readContent({ live }: OpenSession): Promise<PageContent> {
  const page = live.page()
  await settle(page)
  const read = await Promise.all(
    page
      .frames()
      .slice(0, 20)
      .map((frame) => within(frame.evaluate(collectContent), null, 5_000)),
  )
  const [main, ...others] = read.filter((content) => content !== null)
  if (!main) throw new ToolFailure('The page does not answer.')
  return {
    ...main,
    text: [main, ...others].map(({ text }) => text).join('\n'),
    headings: [main, ...others].flatMap(({ headings }) => headings),
    links: [main, ...others].flatMap(({ links }) => links),
    tables: [main, ...others].flatMap(({ tables }) => tables),
    pairs: [main, ...others].flatMap(({ pairs }) => pairs),
    lists: [main, ...others].flatMap(({ lists }) => lists),
  }
}

async function screenshot(
  { files }: Performing,
  { live }: OpenSession,
  { full_page = false }: { full_page?: boolean },
) {
  const page = live.page()
  await settle(page)
  const { width = 1280, height = 800 } = page.viewport() ?? {}
  const tall = full_page
    ? await within(
        page.evaluate(() => document.documentElement.scrollHeight),
        height,
      )
    : height
  const clip = { x: 0, y: 0, width, height: Math.max(1, Math.min(tall, MAX_PICTURE_HEIGHT)) }
  const bytes = await page.screenshot({ type: 'png', clip, captureBeyondViewport: full_page })
  const draft = await files.receive(bytes, 'image/png')
  return { result: { width: clip.width, height: clip.height }, target: null, draft }
}
