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

inChromium('the reference in a browser (dx 5.5)', () => {
  test.each([
    ['/docs/errors', { width: 1000, dark: true }],
    ['/docs/playground', { width: 320, dark: true }],
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

  test('samples of the playground are tabs, which keys work, and a copy is said', async () => {
    const { page } = await opened('/docs/playground')
    const shown = () =>
      page.$$eval('pre[role=tabpanel]', (all) => all.filter((one) => !one.hidden).map(({ id }) => id.at(-1)))
    expect(await shown()).toEqual(['0'])
    await page.focus('[role=tab][aria-selected=true]')
    await page.keyboard.press('ArrowRight')
    expect(await shown()).toEqual(['1'])
    expect(await page.$eval(':focus', (tab) => tab.textContent)).toBe('TypeScript')
    await page.evaluate(() => {
      const writeText = async (text: string) => {
        document.title = text
      }
      Object.defineProperty(navigator, 'clipboard', { value: { writeText } })
    })
    await page.click('button.copy')
    await shows(page, 'p[role=status]', 'Copied')
    expect(await page.title()).toStartWith('const answer = await fetch(')
    await page.close()
  })

  test('a prompt is tried: without a key, refused, stopped, and with no server', async () => {
    const { page } = await opened('/docs/playground', { width: 360 })
    const press = (type: 'submit' | 'button') => page.click(`.panel .row button[type=${type}]`)
    await press('submit')
    await shows(page, '.answer p', 'Paste a key')
    await page.type('input.key', key)
    await setBody(page, '{"prompt":"x","mode":"turbo"}')
    await press('submit')
    await shows(page, '.answer p', '400 refused')
    await shows(page, '.answer .facts', 'requests left')
    expect(await page.$eval('.answer a', (link) => link.getAttribute('href'))).toBe('/docs/errors/validation_error')
    await setBody(page, '{')
    await press('submit')
    await shows(page, '.answer p', 'not a JSON object')
    await setBody(page, '{"prompt":"x"}')
    await page.setOfflineMode(true)
    await press('submit')
    await shows(page, '.answer p', 'cannot be reached')
    await page.setOfflineMode(false)
    await page.evaluate(() => {
      const hangs = (_: unknown, init?: RequestInit) =>
        new Promise<Response>((_done, fail) =>
          init!.signal!.addEventListener('abort', () => fail(new Error('aborted'))),
        )
      window.fetch = hangs as typeof fetch
    })
    await press('submit')
    await press('button')
    await shows(page, '.answer p', 'Stopped.')
    await page.close()
  })

  test('the playground is a form from the start, with the skills of a key, and shows what a stream costs', async () => {
    const person = await world.person()
    expect(await person.send('POST', 'skills', { slug: 'email-drafter' })).toMatchObject({ status: 201 })
    const { page, asked: requests } = await opened('/docs/playground', { width: 360 })
    await page.type('input.key', person.key)
    await page.type('textarea.prompt', '.')
    await shows(page, '.switches', 'E-mail drafter')
    await page.click('.switches input')
    await page.select('.panel select', 'fast')
    await page.click('.panel .field input[type=checkbox]')
    await page.click('.panel .row button[type=submit]')
    await shows(page, '.answer p', '200 done')
    expect(await page.$eval('.answer p', ({ textContent }) => textContent)).toMatch(/^200 done, [\d.]+ ¢, \d+ ms$/)
    const events = await page.$$eval('.answer .events code', (all) => all.map((one) => one.textContent))
    expect(events[0]).toBe('meta')
    expect(events.at(-1)).toBe('done')
    expect(new Set(events).size).toEqual(events.length)
    expect(events).toContain('token')
    const body = await page.$eval('.panel textarea:not(.prompt)', ({ value }) => JSON.parse(value))
    expect(body).toEqual({
      prompt: 'Count to five slowly.',
      mode: 'fast',
      skills: ['email-drafter'],
      stream: true,
    })
    // What it says is text to read, and the code beside it is the call that was made.
    expect(await page.$eval('.answer .said', ({ textContent }) => textContent)).toBe('One, two, three, four, five.')
    const samples = await page.$$eval('[role=tabpanel]', (all) => all.map((one) => one.textContent))
    expect(samples).toHaveLength(3)
    for (const sample of samples) {
      expect(sample).toContain(`${origin}/api/v1/completions`)
      for (const part of ['Count to five slowly.', 'fast', 'email-drafter', 'stream']) expect(sample).toContain(part)
    }
    expect(samples[0]).toContain('curl -sS -N ')
    for (const [sample, command] of [
      [samples[0]!, ['sh', '-c']],
      [samples[1]!, [process.execPath, '-e']],
      [samples[2]!, ['python3', '-c']],
    ] as const) {
      const child = Bun.spawn([...command, sample], {
        env: { ...process.env, SVC_API_KEY: person.key },
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const [shown, wrong] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
      expect(wrong).toBe('')
      expect(shown).toMatch(/^event: meta\n[\s\S]+event: done\ndata: \{.*"content":"One, two, /)
    }
    await page.click('.panel .field input[type=checkbox]')
    expect(await page.$eval('[role=tabpanel]', ({ textContent }) => textContent)).not.toMatch(/-N|stream/)
    await page.click('.panel .row button[type=submit]')
    await shows(page, '.answer pre', '"object": "completion"')
    expect(await page.$eval('.answer .said', ({ textContent }) => textContent)).toBe('One, two, three, four, five.')
    expect(await page.$eval('.answer details', ({ open }) => open)).toBe(false)
    expect(await axeProblems(page)).toEqual([])
    expect(await overflow(page)).toBeLessThanOrEqual(0)
    expect(await traces(page, person.key)).toEqual([])
    expect(requests.filter((url) => url.includes(person.key))).toEqual([])
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
    const button = (await page.waitForSelector('xpath///button[contains(., "Test Request")]'))!
    await button.focus()
    await page.keyboard.press('Enter')
    const token = (await page.waitForSelector('xpath///*[@role="dialog"]//input[@placeholder="Token"]'))!
    await token.type(key)
    await page.keyboard.down('Control')
    await page.keyboard.press('Enter')
    await page.keyboard.up('Control')
    await shows(page, '[role=dialog]', '200')
    expect(await page.evaluate(() => localStorage.length + sessionStorage.length)).toBe(0)
    await page.close()
  })
})

const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)

const setBody = (page: Page, text: string) =>
  page.$eval(
    '.panel textarea:not(.prompt)',
    (field, value) => {
      field.value = value
    },
    text,
  )

/** Where a secret stands in a page besides the field it was typed into. */
const traces = (page: Page, secret: string) =>
  page.evaluate((word) => {
    const stored = { ...localStorage, ...sessionStorage, cookie: document.cookie, url: location.href }
    const written = document.documentElement.outerHTML.includes(word) ? ['markup'] : []
    return [
      ...written,
      ...Object.entries(stored).flatMap(([name, value]) => (String(value).includes(word) ? [name] : [])),
    ]
  }, secret)
