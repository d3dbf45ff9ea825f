import type { ElementHandle, KeyInput } from 'puppeteer-core'
import { readInstruction, type Step } from '../text'
import { ToolFailure } from '../tools'
import {
  type ActionOutcome,
  acted,
  clickOn,
  find,
  type PageAction,
  resolveElement,
  settle,
  similarity,
} from './find-element'
import type { OpenSession } from './host'
import { chooseOption, kindOfField, kindOfFocused, selectAll, setValue } from './in-page'
import { type LiveBrowser, within } from './live'
import type { ActArguments } from './perform'
import type { Thinker } from './think'
import { type Element, readTree } from './tree'

/**
 * Performs the steps of an instruction in order, each on the page's current state. Throws {@link ToolFailure} at the
 * first impossible step, naming its target.
 */
async function doSteps(doing: PageAction, steps: readonly Step[], fixed: Element | null): Promise<ActionOutcome> {
  const done: ActionOutcome[] = []
  // The browser answers a dialog as soon as it opens, so the answer must be set before the step that opens it.
  for (const step of [
    ...steps.filter((step) => step.do === 'dialog'),
    ...steps.filter((step) => step.do !== 'dialog'),
  ]) {
    doing.signal.throwIfAborted()
    done.push(await doStep(doing, step, fixed))
    doing.done += 1
    await settle(doing.live.page())
  }
  const target = done.map((acted) => acted.target).findLast((found) => found !== null) ?? null
  return { action: done.map(({ action }) => action).join('; '), target, secret: done.some(({ secret }) => secret) }
}

async function doStep(doing: PageAction, step: Step, fixed: Element | null): Promise<ActionOutcome> {
  const { live } = doing
  const page = live.page()
  switch (step.do) {
    case 'click':
      return press(doing, step.what, step.times, fixed)
    case 'type':
      return write(doing, step.text, step.into, fixed)
    case 'select':
      return select(doing, step, fixed)
    case 'check':
      return tick(doing, step.what, step.on, fixed)
    case 'clear':
      return write(doing, '', step.what, fixed)
    case 'hover': {
      const { element, handle } = await resolveElement(doing, step.what, 'any', fixed)
      await handle.hover()
      return acted('hovered over', element)
    }
    case 'key': {
      if (step.on) await (await resolveElement(doing, step.on, 'write', fixed)).handle.focus()
      await page.keyboard.press(step.key as KeyInput)
      return { action: `pressed ${step.key}`, target: null }
    }
    case 'scroll':
      return scroll(doing, step, fixed)
    case 'person':
      await doing.askPerson(step.why)
      return { action: 'a person did it', target: null }
    case 'tab':
      return showTab(doing, step.which)
    case 'dialog':
      live.answerDialogs(step.accept)
      return { action: `${step.accept ? 'accepts' : 'dismisses'} dialogs`, target: null }
    default:
      return plainStep(live, step.do)
  }
}

async function plainStep(
  live: LiveBrowser,
  what: 'back' | 'forward' | 'reload' | 'close-tab' | 'wait',
): Promise<ActionOutcome> {
  const page = live.page()
  const wait = { waitUntil: 'domcontentloaded', timeout: 10_000 } as const
  if (what === 'back') await within(page.goBack(wait), null, 10_000)
  if (what === 'forward') await within(page.goForward(wait), null, 10_000)
  if (what === 'reload') await within(page.reload(wait), null, 10_000)
  if (what === 'wait') await settle(page, 2_000)
  if (what === 'close-tab' && live.tabs().length > 1) await page.close()
  return { action: what.replace('-', ' '), target: null }
}

async function press(doing: PageAction, what: string, times: number, fixed: Element | null): Promise<ActionOutcome> {
  const { element, handle } = await resolveElement(doing, what, 'press', fixed)
  await clickOn(handle, times)
  return acted(times === 2 ? 'double-clicked' : 'clicked', element)
}

async function write(
  doing: PageAction,
  text: string,
  into: string | null,
  fixed: Element | null,
): Promise<ActionOutcome> {
  const page = doing.live.page()
  const enter = text.endsWith('\n')
  const words = enter ? text.slice(0, -1) : text
  if (into === null && !fixed) {
    const kind = await within(page.evaluate(kindOfFocused), 'password')
    await page.keyboard.type(words)
    if (enter) await page.keyboard.press('Enter')
    return { action: 'typed', target: null, secret: kind === 'password' }
  }
  const { element, handle } = await resolveElement(doing, into ?? '', 'write', fixed)
  const kind = await handle.evaluate(kindOfField)
  if (kind === 'select') return select(doing, { option: words, from: into }, element)
  if (SET_WHOLE.has(kind)) await handle.evaluate(setValue, words)
  else {
    await handle.focus()
    await handle.evaluate(selectAll)
    if (words) await page.keyboard.type(words)
    else await page.keyboard.press('Backspace')
  }
  if (enter) await page.keyboard.press('Enter')
  return { ...acted(words ? 'typed into' : 'cleared', element), secret: kind === 'password' }
}

/** Fields whose keyboard entry depends on the browser's language. Their value is set directly. */
const SET_WHOLE = new Set(['date', 'datetime-local', 'time', 'month', 'week', 'color', 'range'])

async function select(
  doing: PageAction,
  { option, from }: { option: string; from: string | null },
  fixed: Element | null,
): Promise<ActionOutcome> {
  const elements = await readTree(doing.live.page(), doing.refs)
  const list = fixed ?? (from ? find(elements, from, 'options') : listWith(elements, option))
  const handle = list && ((await list.handle()) as ElementHandle<HTMLSelectElement> | null)
  const chosen = handle ? await handle.evaluate(chooseOption, option) : null
  if (list && handle && chosen !== null) {
    await handle.select(chosen)
    return acted(`chose ${JSON.stringify(option)} in`, list)
  }
  // A list drawn by the page itself must be opened first.
  if (list && handle) {
    await clickOn(handle)
    await settle(doing.live.page())
  }
  return press(doing, from && !list ? `${option} in ${from}` : option, 1, null)
}

/** The list that contains an option with this name. */
const listWith = (elements: readonly Element[], option: string): Element | undefined => {
  const at = elements.findIndex(({ role, name }) => role === 'option' && similarity(option, name) > 0.9)
  return at < 0 ? undefined : elements.slice(0, at).findLast(({ role }) => role === 'combobox' || role === 'listbox')
}

async function tick(doing: PageAction, what: string, on: boolean, fixed: Element | null): Promise<ActionOutcome> {
  const { element, handle } = await resolveElement(doing, what, 'tick', fixed)
  if (element.checked !== on) await clickOn(handle)
  return acted(on ? 'checked' : 'unchecked', element)
}

async function scroll(
  doing: PageAction,
  step: Extract<Step, { do: 'scroll' }>,
  fixed: Element | null,
): Promise<ActionOutcome> {
  const page = doing.live.page()
  if (step.to === 'element') {
    const { element, handle } = await resolveElement(doing, step.what ?? '', 'any', fixed)
    await handle.scrollIntoView()
    return acted('scrolled to', element)
  }
  const by = { up: -0.9, down: 0.9, top: -1e6, bottom: 1e6 }[step.to]
  await page.evaluate((times) => scrollBy(0, times * innerHeight), by)
  return { action: `scrolled ${step.to}`, target: null }
}

async function showTab({ live }: PageAction, which: string): Promise<ActionOutcome> {
  const facts = await Promise.all(live.tabs().map(async (page) => ({ page, ...(await live.facts(page)) })))
  const best = facts
    .map(({ page, title, url, id }) => ({
      page,
      title,
      score: Math.max(similarity(which, title), similarity(which, url), similarity(which, id)),
    }))
    .sort((a, b) => b.score - a.score)[0]
  if (!best || best.score < 0.5) throw new ToolFailure(`There is no tab ${JSON.stringify(which)}.`)
  await live.show(best.page)
  return { action: 'switched tab', target: { role: 'tab', name: best.title } }
}

/**
 * Performs an instruction with the built-in reader. If the reader does not understand it or finds no target, an engine
 * plans the steps. The engine sees the page, but only the names of variables.
 */
export async function follow(
  thinker: Thinker,
  session: OpenSession,
  doing: PageAction,
  { instruction, variables = {} }: Pick<ActArguments, 'instruction' | 'variables'>,
  fixed: Element | null,
): Promise<ActionOutcome> {
  // `%name%` stands for a variable. Its value is typed, and never read as an instruction.
  const read = readInstruction(
    instruction.replace(/"?%([A-Za-z0-9_]{1,64})%"?/g, (whole, name: string) =>
      Object.hasOwn(variables, name) ? `"${String(variables[name]).replace(/["\n]/g, ' ')}"` : whole,
    ),
  )
  try {
    if (read) return await doSteps(doing, read, fixed)
  } catch (error) {
    if (!(error instanceof ToolFailure) || doing.done > 0 || fixed) throw error
    const thought = await thinker.steps(session, instruction, doing.signal)
    if (!thought) throw error
    return doSteps(doing, thought.steps.map(fillStep(variables)), null)
  }
  const thought = await thinker.steps(session, instruction, doing.signal)
  if (thought) return doSteps(doing, thought.steps.map(fillStep(variables)), fixed)
  throw new ToolFailure(
    `The instruction ${JSON.stringify(instruction.slice(0, 100))} is not understood. Say one thing, such as: click "Sign in"; type "5" in "Quantity".`,
  )
}

const fillStep =
  (variables: Record<string, unknown>) =>
  (step: Step): Step => {
    if (step.do !== 'type') return step
    const text = step.text.replace(VARIABLE, (whole, name: string) =>
      Object.hasOwn(variables, name) ? String(variables[name]) : whole,
    )
    return { ...step, text }
  }

const VARIABLE = /%([A-Za-z0-9_]{1,64})%/g
