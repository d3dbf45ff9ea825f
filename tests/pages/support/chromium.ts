import { afterAll, describe, setDefaultTimeout } from 'bun:test'
import { createRequire } from 'node:module'
import puppeteer, { type Browser, type Frame, type Page } from 'puppeteer-core'
import { chromiumPath } from './chromium-path'

/** `describe` where a Chromium is; elsewhere the tests are skipped, and the line says why. */
export const inChromium = (name: string, run: () => void | Promise<void>): void => {
  if (!chromiumPath) {
    describe.skip(`${name} (no Chromium: set BUN_CHROME_PATH)`, run)
    return
  }
  describe(name, () => {
    // Not of this module: it is loaded once for all files of a worker, and only the first one's end would be heard.
    afterAll(async () => {
      const last = running
      running = null
      await (await last)?.close()
    })
    return run()
  })
}

// A browser on a busy machine takes its time; a test that hangs ends its browser.
setDefaultTimeout(90_000)

let running: Promise<Browser> | null = null
const opened = new Set<Page>()

/** One browser for each test file, of its own and without anything of the machine's user. */
const browser = (): Promise<Browser> => {
  running ??= puppeteer.launch({
    executablePath: chromiumPath!,
    headless: true,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-background-networking', '--force-color-profile=srgb'],
  })
  return running
}

type Look = {
  width?: number
  height?: number
  touch?: boolean
  dark?: boolean
  reduced?: boolean
  forced?: boolean
  /** Its cookies and storage are not shared with other pages. */
  alone?: boolean
}

/** An empty page that looks as asked for. */
export async function newPage(look: Look = {}): Promise<Page> {
  const { width = 1000, height = 760, touch = false, dark = false, reduced = true, forced = false, alone = true } = look
  const whole = await browser()
  const page = await (alone ? (await whole.createBrowserContext()).newPage() : whole.newPage())
  opened.add(page)
  page.setDefaultTimeout(30_000)
  await page.setViewport({ width, height, hasTouch: touch, isMobile: touch, deviceScaleFactor: 1 })
  await page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' },
    { name: 'prefers-reduced-motion', value: reduced ? 'reduce' : 'no-preference' },
  ])
  if (forced) {
    await (await page.createCDPSession()).send('Emulation.setEmulatedMedia', {
      features: [
        { name: 'forced-colors', value: 'active' },
        { name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' },
        { name: 'prefers-reduced-motion', value: 'reduce' },
      ],
    })
  }
  return page
}

/** The frame of a page whose address has this part. */
export async function frameOf(page: Page, part = '/embed/widget/'): Promise<Frame> {
  const frame = await page.waitForFrame((candidate) => candidate.url().includes(part))
  await frame.waitForSelector('html[data-ready="true"]')
  await frame.waitForFunction(() => innerWidth > 60)
  return frame
}

const AXE = await Bun.file(createRequire(import.meta.url).resolve('axe-core/axe.min.js')).text()
type Violation = { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }

/** What axe finds wrong in a page or frame by WCAG 2.2 AA, one line each; the script goes in past the page's policy. */
export async function axeProblems(target: Page | Frame): Promise<string[]> {
  const frame = 'mainFrame' in target ? target.mainFrame() : target
  await frame.evaluate(AXE)
  const violations = (await frame.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(where: Document, options: object): Promise<{ violations: unknown }> }
    }
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
    return (await axe.run(document, { runOnly: tags })).violations
  })) as Violation[]
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help} (${node.html}) ${node.failureSummary ?? ''}`),
  )
}

/** The text of an element as it is shown. */
export const textOf = (frame: Frame | Page, selector: string): Promise<string> =>
  frame.$eval(selector, (element) => element.textContent ?? '')

/** Waits until a text is shown in an element. */
export const shows = (frame: Frame | Page, selector: string, text: string) =>
  frame.waitForFunction(
    (where: string, what: string) =>
      [...document.querySelectorAll(where)].some((element) => (element.textContent ?? '').includes(what)),
    {},
    selector,
    text,
  )
