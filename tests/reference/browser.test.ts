// SQLite only: pages are made from the document, and no row is read.
import { expect, test } from 'bun:test'
import { axeProblems, inChromium, newPage } from '../pages/support/chromium'
import { eventually } from '../support/eventually'
import { listen } from '../support/listening'
import { createWorld } from '../support/world'

const world = await createWorld()
const { origin } = listen(world)

/** What a page asked for, and what its policy refused. */
async function opened(path: string, look: Parameters<typeof newPage>[0] = {}) {
  const page = await newPage(look)
  const asked: string[] = []
  const problems: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  await page.goto(`${origin}${path}`, { waitUntil: 'load' })
  return { page, asked, problems }
}

inChromium('the reference in a browser (dx 5.5)', () => {
  test.each([
    ['/docs', { width: 1000 }],
    ['/docs/completions', { width: 1000, dark: true }],
    ['/docs/skills', { width: 320 }],
    ['/docs/errors/not_found', { width: 1000 }],
    ['/docs/clients', { width: 320, dark: true }],
  ])('%s loads nothing but itself, needs no script and has no problem that axe finds', async (path, look) => {
    const { page, asked, problems } = await opened(path, look)
    expect(asked.filter((url) => !url.endsWith('/favicon.ico'))).toEqual([`${origin}${path}`])
    expect(problems.filter((text) => !text.includes('404'))).toEqual([])
    expect(await axeProblems(page)).toEqual([])
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    expect(overflow).toBeLessThanOrEqual(0)
    await page.close()
  })

  test('the console shows our document with a script of ours, and asks nobody else', async () => {
    const { page, asked } = await opened('/docs/console')
    await page.waitForFunction(() => document.body.textContent.includes('Answer a prompt'))
    expect(asked.filter((url) => !url.startsWith(origin) && !/^(data|blob):/.test(url))).toEqual([])
    expect(asked).toContain(`${origin}/docs/scalar.json`)
    // Scalar puts a button into the button of each answer: that cannot be mended from outside.
    const found = async () => (await axeProblems(page)).filter((one) => !one.startsWith('nested-interactive'))
    // What it draws late is mended a moment later.
    await eventually(found, (problems) => problems.length === 0)
    expect(await page.evaluate(() => localStorage.length + sessionStorage.length)).toBe(0)
    await page.close()
  })
})
