// SQLite only: pages are made from the document, and no row is read.
import { expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { eventually } from '../../support/eventually'
import { listen } from '../../support/listening'
import { createWorld } from '../../support/world'
import { axeProblems, inChromium, newPage, shows } from '../support/chromium'

const world = await createWorld()
const { origin } = listen(world)
const { key } = await world.person()

/** What a page asked for, and what its policy refused. */
async function opened(path: string, look: Parameters<typeof newPage>[0] = {}) {
  const page = await newPage(look)
  const requests: string[] = []
  const problems: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  page.on('console', (message) => {
    if (['error', 'warn'].includes(message.type())) problems.push(message.text())
  })
  await page.goto(`${origin}${path}`, { waitUntil: 'load' })
  return { page, asked: requests, problems }
}

inChromium('the reference in a browser (docs/operating.md 5.5)', () => {
  test.each([
    ['/docs/errors', { width: 1000, dark: true }],
    ['/docs/errors/not_found', { width: 320 }],
  ])('%s loads nothing but its own script and has no problem that axe finds', async (path, look) => {
    const { page, asked: requests, problems } = await opened(path, look)
    const foreign = (url: string) =>
      url !== `${origin}${path}` && !/\/(favicon\.ico|assets\/reference-\w+\.js)$/.test(url)
    expect(requests.filter(foreign)).toEqual([])
    expect(problems.filter((text) => !text.includes('404'))).toEqual([])
    expect(await axeProblems(page)).toEqual([])
    expect(await overflow(page)).toBeLessThanOrEqual(0)
    await page.close()
  })

  test('without scripts /docs has the first call, all groups of calls and the rules', async () => {
    const page = await newPage({ width: 320 })
    await page.setJavaScriptEnabled(false)
    await page.goto(`${origin}/docs`)
    await page.setJavaScriptEnabled(true)
    const text = await page.evaluate(() => document.querySelector('main')!.textContent)
    for (const part of ['curl -sS', 'Completions', 'Audit', 'Rules for every call']) expect(text).toContain(part)
    expect(await axeProblems(page)).toEqual([])
    expect(await overflow(page)).toBeLessThanOrEqual(0)
    await page.close()
  })

  test('code is copied, and that is said', async () => {
    const { page } = await opened('/docs/errors')
    await page.evaluate(() => {
      const writeText = async (text: string) => {
        document.title = text
      }
      Object.defineProperty(navigator, 'clipboard', { value: { writeText } })
    })
    await page.click('button.copy')
    await shows(page, 'p[role=status]', 'Copied')
    expect(await page.title()).toContain('"error"')
    await page.close()
  })

  test.each([
    { width: 1280, dark: true },
    { width: 320, dark: false },
  ])('/docs is the viewer over our document, with nothing from elsewhere: %p', async (look) => {
    const { page, asked: requests, problems } = await opened('/docs', look)
    await page.waitForFunction(() => !document.getElementById('start'))
    await page.waitForFunction(() => document.body.textContent.includes('Answer a prompt'))
    expect(requests.filter((url) => !url.startsWith(origin) && !/^(data|blob):/.test(url))).toEqual([])
    expect(requests).toContain(`${origin}/docs/scalar.json`)
    expect(problems.filter((text) => !text.includes('404'))).toEqual([])
    expect(await page.evaluate(() => document.body.textContent)).not.toMatch(/Developer Tools|Generate SDKs/)
    const vendor = await page.$$eval('a[href*="scalar.com"]', (links) => links.filter((link) => link.checkVisibility()))
    expect(vendor).toEqual([])
    const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    expect(ground).toBe(look.dark ? 'rgb(20, 23, 28)' : 'rgb(255, 255, 255)')
    // Scalar puts a button into the button of each answer: that cannot be mended from outside.
    const found = async () => (await axeProblems(page)).filter((one) => !one.startsWith('nested-interactive'))
    // What it draws late is mended a moment later.
    await eventually(found, (problems) => problems.length === 0)
    expect(await page.evaluate(() => localStorage.length + sessionStorage.length)).toBe(0)
    expect(await overflow(page)).toBeLessThanOrEqual(0)
    await page.close()
  })

  test('a link leads to a call in the viewer, from where it is sent with the keyboard', async () => {
    const { page } = await opened('/docs#tag/completions/post/completions', { width: 1280 })
    await page.waitForFunction(() => !document.getElementById('start'))
    await shows(page, '.response-card', 'svc-1-')
    await (await page.waitForSelector('xpath///button[contains(., "Test Request")]'))!.focus()
    await page.keyboard.press('Enter')
    await (await page.waitForSelector('xpath///*[@role="dialog"]//input[@placeholder="Token"]'))!.type(key)
    await page.keyboard.down('Control')
    await page.keyboard.press('Enter')
    await page.keyboard.up('Control')
    await shows(page, '[role=dialog]', '200')
    expect(await page.evaluate(() => localStorage.length + sessionStorage.length)).toBe(0)
    await page.close()
  })
})

const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
