import { afterAll, expect } from 'bun:test'
import type { Page } from 'puppeteer-core'
import type { ConfigOverrides } from '../../../../src/app/config'
import { listen } from '../../../support/listening'
import { createWorld, type Person } from '../../../support/world'
import { axeProblems, newPage } from '../../support/chromium'
import { picture } from '../../support/shop'

type Look = NonNullable<Parameters<typeof newPage>[0]>

/** A server with one person who has called it, and what their browser does in the console. */
export async function createConsole({ below, config = {} }: { below?: string; config?: ConfigOverrides } = {}) {
  const proxy = below === undefined ? null : proxyBelow(below)
  const world = await createWorld({ config: { ...config, ...(proxy ? { publicUrl: proxy.address } : {}) } })
  const { origin: own } = listen(world)
  world.app.listensAt(own)
  proxy?.leadsTo(own)
  const origin = proxy?.address ?? own
  const person = await world.person({ ofOrg: false })

  /** Answers of the built-in engine, so that every figure of the pages is real. */
  async function calls(many: number, caller: Person = person) {
    for (let n = 0; n < many; n++)
      await caller.send('POST', 'completions', { prompt: `Count to ${n + 2}`, mode: n % 3 ? 'fast' : 'auto' })
  }

  /** A page of the console as this person sees it; what leaves the server or breaks the policy is noted. */
  async function open(path = '', look: Look = {}, who: Person = person) {
    const page = await newPage({ width: 1280, height: 800, ...look })
    const problems: string[] = []
    page.on(
      'console',
      (line) => line.type() === 'error' && problems.push(`${line.text()} ${line.location().url ?? ''}`),
    )
    page.on('pageerror', (error) => problems.push(String(error)))
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(origin)) problems.push(request.url())
    })
    const session = await world.signedIn(who)
    await page.setCookie({
      name: 'svc_session',
      value: session.key,
      url: new URL(origin).origin,
      httpOnly: true,
      sameSite: 'Strict',
    })
    await page.goto(`${origin}/console${path}`)
    return { page, problems }
  }

  return { world, origin, person, calls, open }
}

/** A proxy that has the server below a path, and nothing beside it. */
function proxyBelow(path: string) {
  let target = ''
  const proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (!pathname.startsWith(`${path}/`)) return new Response('Nothing is beside the path.', { status: 404 })
      const { method, headers, body } = request
      return fetch(target + pathname.slice(path.length) + search, {
        method,
        headers,
        body,
        redirect: 'manual',
        decompress: false,
      })
    },
  })
  afterAll(() => proxy.stop(true))
  return {
    address: proxy.url.origin + path,
    leadsTo: (origin: string) => {
      target = origin
    },
  }
}

/** Waits until a text is shown in the page. */
export const sees = (page: Page, text: string) =>
  page.waitForFunction((what: string) => (document.body.textContent ?? '').includes(what), {}, text)

/** Another address of the console, as its links lead there. */
export const go = (page: Page, path: string) =>
  page.evaluate((to: string) => {
    history.pushState(null, '', to)
    dispatchEvent(new PopStateEvent('popstate'))
  }, path)

/** Presses what has this role and name, once it no longer moves. */
export const press = (page: Page, name: string, role = 'button') => page.locator(`aria/${name}[role="${role}"]`).click()

/** Writes into the field with this label. */
export async function write(page: Page, label: string, text: string): Promise<void> {
  const field = await page.waitForSelector(`aria/${label}[role="textbox"]`, { visible: true })
  await field!.type(text)
}

/** Chooses in the menu with this label. */
export async function choose(page: Page, label: string, value: string): Promise<void> {
  const menu = await page.waitForSelector(`aria/${label}[role="combobox"]`, { visible: true })
  await menu!.select(value)
}

type TabTo = { back?: boolean; within?: string; isWhole?: boolean }

/**
 * Presses Tab until something in `within` has the focus whose name begins like this or is this, where a ring is drawn around it.
 * Nothing on the way may hold the focus.
 */
export async function tabTo(page: Page, name: string, how: TabTo = {}): Promise<void> {
  const { back = false, within = '*', isWhole = false } = how
  for (let tries = 0; tries < 80; tries++) {
    // What opens with the focus in its first field needs no Tab.
    if (tries > 0) {
      if (back) await page.keyboard.down('Shift')
      await page.keyboard.press('Tab')
      if (back) await page.keyboard.up('Shift')
    }
    const found = await page.evaluate((where: string) => {
      const it = document.activeElement as HTMLInputElement | null
      const label = it?.labels?.[0]?.textContent ?? it?.getAttribute('aria-label') ?? it?.textContent ?? ''
      // The ring of a prompt is around its composer, that of a link in a table around its row.
      const isSeen = [it, it?.closest('.composer'), it?.closest('.tr')].some((ringed) => {
        const { outlineStyle, outlineWidth } = getComputedStyle(ringed ?? document.body)
        return outlineStyle !== 'none' && outlineWidth !== '0px'
      })
      return { label: it === document.body || !it?.closest(where) ? null : label.trim(), isSeen }
    }, within)
    if (isWhole ? found.label !== name : !found.label?.startsWith(name)) continue
    expect(found).toEqual({ label: found.label, isSeen: true })
    return
  }
  throw new Error(`Tab does not reach “${name}”.`)
}

const WIDE = 1280
const LOOKS = [
  { width: WIDE, height: 800, dark: false },
  { width: WIDE, height: 800, dark: true },
  { width: 320, height: 640, dark: false },
  { width: 320, height: 640, dark: true },
] as const

/** What the eye finds cut: a page that scrolls sideways, and what stands out of its table or card. */
export const cutIn = (page: Page): Promise<string[]> =>
  page.evaluate(async () => {
    // The tables measure their room after a change of it.
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
    const over = document.documentElement.scrollWidth - innerWidth
    const found = over > 0 ? [`${over} px too wide`] : []
    for (const box of document.querySelectorAll('.dialog, .drawer'))
      if (box.getBoundingClientRect().right > innerWidth + 1) found.push(`${box.className} leaves the page`)
    // Beside a list, the drawer leaves the page its room.
    const drawer = document.querySelector('.drawer[role="complementary"]:not(.wide)')?.getBoundingClientRect()
    for (const { right } of [...document.querySelectorAll('.looking a')].map((it) => it.getBoundingClientRect()))
      if (drawer && right > drawer.left) found.push('the way back to all owners is behind the drawer')
    // The name of a row stays readable beside a long value.
    for (const first of document.querySelectorAll('.table-body .tr > :first-child'))
      if (first.textContent && first.clientWidth < 40) found.push(`the name “${first.textContent}” is not seen`)
    const boxes = [...document.querySelectorAll('.check > input')].map(({ clientWidth }) => clientWidth)
    if (new Set(boxes).size > 1) found.push(`boxes to check are ${boxes.join(', ')} px wide`)
    for (const box of document.querySelectorAll('.table, .figure, .part, .needs')) {
      const end = box.getBoundingClientRect().right + 1
      for (const inner of box.querySelectorAll('[role="cell"], [role="columnheader"], b, button, .chip')) {
        const { right, width } = inner.getBoundingClientRect()
        // On a small screen the heads are there for readers alone.
        const isSeen = width > 1 && inner.closest('[role="rowgroup"]')?.clientWidth !== 1
        if (isSeen && right > end) found.push(`“${inner.textContent}” stands out by ${Math.round(right - end)} px`)
      }
    }
    return found
  })

/** What is wrong with a page in light and dark, wide and narrow: what axe finds, and what scrolls sideways. */
export async function wrongIn(page: Page, name: string): Promise<string[]> {
  const found: string[] = []
  for (const { width, height, dark } of LOOKS) {
    await page.setViewport({ width, height })
    const theme = dark ? 'dark' : 'light'
    await page.emulateMediaFeatures([
      { name: 'prefers-color-scheme', value: theme },
      { name: 'prefers-reduced-motion', value: 'reduce' },
    ])
    await page.waitForNetworkIdle({ idleTime: 200 })
    found.push(...(await cutIn(page)).map((problem) => `${name} ${width}: ${problem}`))
    found.push(...(await axeProblems(page)).map((problem) => `${name} ${width} ${theme}: ${problem}`))
    if (width === WIDE) await picture(page, dark ? `console-${name}-dark` : `console-${name}`)
  }
  for (const width of [1_024, 820]) {
    await page.setViewport({ width, height: 800 })
    found.push(...(await cutIn(page)).map((problem) => `${name} ${width}: ${problem}`))
  }
  return found
}
