import { expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { eventually } from '../../support/eventually'
import { inChromium } from '../support/chromium'
import { createConsole, press, sees, wrongIn } from './support/console'

/** How many rows of the list are in the page. */
const rowsIn = (page: Page) => page.$$eval('.table-body .tr', (rows) => rows.length)
const headsOf = (page: Page) =>
  page.$$eval('.table-head [role="columnheader"]', (heads) => heads.map((head) => head.textContent?.trim()))

inChromium('the requests of the console', async () => {
  const { calls, open, person } = await createConsole()

  test('before the first call there is a call to copy', async () => {
    const { page, problems } = await open('/me/requests')
    await sees(page, 'No requests in the last 30 days')
    expect(await wrongIn(page, 'requests-empty')).toEqual([])
    expect(problems).toEqual([])
  })

  test('calls are listed, filtered by the address, and opened by keys alone', async () => {
    await calls(60)
    const { page, problems } = await open('/me/requests')
    await page.waitForSelector('.table-body .tr')
    expect(await wrongIn(page, 'requests')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await page.select('select[aria-label="Mode"]', 'fast')
    await page.waitForFunction(() => location.search === '?mode=fast')
    await page.keyboard.press('Escape')
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.waitForFunction(() => document.activeElement?.closest('[data-index="1"]'))
    await page.keyboard.press('ArrowUp')
    await page.waitForFunction(() => document.activeElement?.closest('[data-index="0"]'))
    await page.keyboard.press('ArrowDown')
    await page.waitForFunction(() => document.activeElement?.closest('[data-index="1"]'))
    await page.keyboard.press('Enter')
    await sees(page, 'Where the')
    await sees(page, 'Audit events')
    const first = page.url()
    expect(first).toContain('?mode=fast')
    expect(await wrongIn(page, 'requests-trace')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await page.keyboard.press(']')
    await page.waitForFunction((before: string) => location.href !== before, {}, first)
    await page.keyboard.press('Escape')
    await page.waitForFunction(() => location.pathname.endsWith('/requests'))
    await page.waitForFunction(() => document.activeElement?.closest('[data-index="1"]'))
    await page.select('select[aria-label="Status"]', '5xx')
    await sees(page, 'No row matches ')
    await sees(page, 'status:5xx')
    await sees(page, ' without it')
    await press(page, 'Clear filter')
    await page.waitForSelector('.table-body .tr')
    expect(problems).toEqual([])
  })

  test('metadata is a filter and a column, and the columns are remembered with their widths', async () => {
    const { request_id: id } = (
      await person.send('POST', 'completions', { prompt: 'Name a colour', mode: 'fast', metadata: { team: 'search' } })
    ).body
    const { page, problems } = await open('/me/requests')
    await press(page, 'More filters')
    await page.type('input[aria-label="Metadata"]', 'team=search')
    await eventually(
      () => page.url(),
      (url) => url.includes('metadata=team%3Dsearch'),
    )
    await eventually(
      () => rowsIn(page),
      (many) => many === 1,
    )
    expect(await page.$eval('.table-body a', (link) => link.getAttribute('href'))).toContain(id)
    await press(page, 'Columns')
    await press(page, 'Metadata', 'checkbox')
    await press(page, 'Done')
    await eventually(
      () => headsOf(page),
      (heads) => heads.includes('Metadata'),
    )
    await sees(page, 'team=search')
    const head = await page.waitForSelector('.table-head [role="columnheader"]:first-child .pull')
    const { x, y } = (await head!.boundingBox())!
    const width = () => page.$eval('.table-head [role="columnheader"]', (it) => Math.round(it.clientWidth))
    const pulled = (await width()) + 60
    await page.mouse.move(x + 4, y + 8)
    await page.mouse.down()
    await page.mouse.move(x + 64, y + 8, { steps: 4 })
    await page.mouse.up()
    await eventually(width, (now) => now === pulled)
    await page.goto(page.url().split('?')[0]!)
    await eventually(
      () => headsOf(page),
      (heads) => heads.includes('Metadata'),
    )
    expect(await width()).toBe(pulled)
    expect(problems).toEqual([])
  })

  test('new rows come by themselves, and wait while one is open', async () => {
    const { page, problems } = await open('/me/requests?mode=think')
    await sees(page, 'No row matches mode:think.')
    await press(page, 'Clear filter')
    await page.waitForSelector('.table-body .tr')
    const newest = () => page.$eval('.table-body [data-index="0"] a', (link) => link.getAttribute('href'))
    const ask = async () =>
      (await person.send('POST', 'completions', { prompt: 'Is water wet?', mode: 'fast' })).body.request_id as string
    // The stream may begin after the first of them.
    const first = await ask()
    await eventually(newest, (href) => href?.includes(first) ?? false)
    await page.click('.table-body [data-index="0"] [role="cell"]:nth-child(2)')
    await sees(page, 'Where the')
    const before = await newest()
    await ask()
    await sees(page, 'above')
    expect(await newest()).toBe(before)
    await page.keyboard.press('Escape')
    await page.evaluate(() =>
      [...document.querySelectorAll('button')].find((it) => it.textContent?.includes('above'))?.click(),
    )
    await eventually(newest, (href) => href !== before)
    expect(problems).toEqual([])
  })

  test('a part of the time is chosen by pulling over it', async () => {
    const { page, problems } = await open('/me/requests?range=1h')
    await page.waitForSelector('.histogram > span')
    const { x, y, width } = (await (await page.$('.histogram'))!.boundingBox())!
    await page.mouse.move(x + width * 0.1, y + 20)
    await page.mouse.down()
    await page.mouse.move(x + width * 0.3, y + 20, { steps: 4 })
    await page.mouse.up()
    await eventually(
      () => page.url(),
      (url) => /from=.*&to=/.test(url),
    )
    await sees(page, 'No row matches from:')
    expect(await wrongIn(page, 'requests-range')).toEqual([])
    expect(problems).toEqual([])
  })

  test('what is shown leaves as a file with the same filters', async () => {
    const { page } = await open('/me/requests?metadata=team%3Dsearch')
    await page.waitForSelector('.table-body .tr')
    const sent = page.waitForRequest((request) => request.url().includes('/usage/export'))
    await press(page, 'Export')
    const shown = () =>
      page.$$eval('.dialog tr', (rows) => rows.map(({ children }) => [...children].map((cell) => cell.textContent)))
    const { text } = await person.send('GET', 'usage/export?metadata.team=search')
    const file = text
      .trim()
      .split(/\r?\n/)
      .map((line: string) => line.split(','))
    expect(await eventually(shown, (rows) => rows.length > 1)).toEqual(file.slice(0, 21))
    expect(await wrongIn(page, 'requests-export')).toEqual([])
    await press(page, 'Save as JSONL')
    const { searchParams } = new URL((await sent).url())
    expect(Object.fromEntries(searchParams)).toEqual({ 'metadata.team': 'search', format: 'jsonl' })
  })

  test('a link to a call opens it alone, and says where there is none', async () => {
    const { requests } = (await person.send('GET', 'requests?limit=1')).body
    const { page } = await open(`/me/requests/${requests[0].request_id}`)
    await sees(page, 'Where the')
    const other = await open('/me/requests/req_none')
    await sees(other.page, 'No request with this id.')
  })
})
