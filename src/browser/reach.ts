import type { ElementHandle, Page } from 'puppeteer-core'
import { ToolFailure } from '../tools'
import { clickItself } from './in-page'
import { type LiveBrowser, within } from './live'
import { findElement, type Kind } from './match'
import { type Element, type Refs, readTree } from './tree'

/** What was acted on, as people call it. */
type Target = { role: string; name: string }
export type Acted = { action: string; target: Target | null; secret?: boolean }

export type Doing = {
  live: LiveBrowser
  refs: Refs
  signal: AbortSignal
  /** Counts the steps that were done. */
  done: number
  /** Asks whoever looks to take the wheel, and waits until they gave it back. */
  askPerson(why: string): Promise<void>
}

const SETTLE_MS = 1_500
const QUIET_MS = 60

/** A click where the element is; one that something covers, or that has no box, is clicked by its own method. */
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

/** The element that a phrase names now. A page may still be drawing itself: it is looked at again for a while. */
export async function reach(doing: Doing, phrase: string, kind: Kind, fixed: Element | null) {
  for (let attempt = 0; ; attempt++) {
    const element = fixed ?? find(await readTree(doing.live.page(), doing.refs), phrase, kind)
    const handle = element && (await element.handle().catch(() => null))
    if (element && handle) return { element, handle }
    if (attempt === 4 || fixed)
      throw new ToolFailure(`Nothing ${WHAT[kind]} on this page has the name ${JSON.stringify(phrase)}.`)
    await settle(doing.live.page(), 400)
  }
}

/** What a phrase names: an element by the reference that `browser_observe` gave it, else by what it is called. */
export const find = (elements: readonly Element[], phrase: string, kind: Kind): Element | undefined =>
  (/^e\d+$/.test(phrase) ? elements.find(({ ref }) => ref === phrase) : undefined) ??
  findElement(elements, phrase, kind)?.element

export const acted = (verb: string, { role, name }: Element): Acted => ({
  action: `${verb} ${role} ${JSON.stringify(name)}`,
  target: { role, name },
})

/** Waits until a page has finished what an action began: its navigation, or the requests it sends; not for long. */
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
