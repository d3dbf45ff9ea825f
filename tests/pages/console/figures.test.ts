import { expect, test } from 'bun:test'
import { duration } from '../../../src/pages/browser/console/ui/format'
import { eventually } from '../../support/eventually'
import { inChromium } from '../support/chromium'
import { createConsole, press, sees, wrongIn } from './support/console'

inChromium('the figures of the console', async () => {
  const { calls, open, person } = await createConsole()
  await person.send('POST', 'keys', { name: 'a second one' })
  await calls(6)

  test('a part of the overview is all that is shown, and a figure leads to its requests', async () => {
    const { page, problems } = await open('/me')
    await page.waitForSelector('.shares .link')
    await page.click('.shares .link')
    await eventually(
      () => page.url(),
      (url) => url.endsWith('?mode=fast'),
    )
    await sees(page, 'Mode: fast')
    expect(await wrongIn(page, 'overview-only')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    const plot = await page.waitForSelector('.u-over', { visible: true })
    const { x, y, width } = (await plot!.boundingBox())!
    await page.mouse.move(x + width * 0.2, y + 40)
    await page.mouse.down()
    await page.mouse.move(x + width * 0.6, y + 40, { steps: 4 })
    await page.mouse.up()
    await eventually(
      () => page.url(),
      (url) => /from=.*&to=/.test(url),
    )
    const figure = await page.waitForSelector('.figure a[href*="cached=true"][href*="from="]')
    await figure!.click()
    await sees(page, 'No row matches ')
    expect(new URL(page.url()).searchParams.get('mode')).toBe('fast')
    expect(problems).toEqual([])
  })

  test('a list that is fully loaded is sorted by its column heads', async () => {
    const { page, problems } = await open('/me/keys')
    const names = () => page.$$eval('.table-body .tr a', (links) => links.map((link) => link.textContent))
    await eventually(names, (found) => found.length === 2)
    await press(page, 'Name')
    await eventually(names, ([first]) => first === 'a second one')
    await press(page, 'Name')
    await eventually(names, ([first]) => first === 'test')
    expect(await page.$eval('[aria-sort]', (head) => head.getAttribute('aria-sort'))).toBe('descending')
    expect(page.url()).toContain('sort=-name')
    expect(await wrongIn(page, 'keys-sorted')).toEqual([])
    expect(problems).toEqual([])
  })

  test('a longer list is read first, and figures begin with the highest', async () => {
    await calls(60)
    const { page, problems } = await open('/me/requests')
    await page.waitForSelector('.table-body .tr')
    await press(page, 'Total')
    await eventually(async () => page.url().endsWith('sort=-total'))
    const { requests } = (await person.send('GET', 'requests?limit=100')).body
    expect(requests.length).toBeGreaterThan(50)
    const slowest = Math.max(...requests.map(({ latency_ms }: { latency_ms: number }) => latency_ms))
    const [row] = requests.filter(({ latency_ms }: { latency_ms: number }) => latency_ms === slowest)
    const first = () => page.$eval('.table-body .tr a', (link) => link.getAttribute('href') ?? '')
    const same = requests.filter(({ latency_ms }: { latency_ms: number }) => latency_ms === row.latency_ms)
    await eventually(first, (href) => same.some(({ request_id }: { request_id: string }) => href.includes(request_id)))
    expect(problems).toEqual([])
  })

  test('the chain of events is verified where it is read', async () => {
    const { page, problems } = await open('/me/audit?range=24h')
    await page.waitForSelector('.table-body .tr')
    await press(page, 'Verify')
    await sees(page, 'each follows from the one before')
    expect(await wrongIn(page, 'audit-verified')).toEqual([])
    expect(problems).toEqual([])
  })

  test('the statement of a month says what it began and ended with', async () => {
    const { page, problems } = await open('/me/billing')
    await press(page, 'Usage of a month…')
    await sees(page, 'Closing balance')
    await page.waitForSelector('.dialog td')
    expect((await page.$$('.dialog tbody tr')).length).toBe(20)
    expect(await wrongIn(page, 'billing-statement')).toEqual([])
    expect(problems).toEqual([])
  })
})

test('a duration has no 60 seconds', () => {
  expect([999, 59_949, 59_990, 119_700, 3_601_000].map(duration)).toEqual([
    ...['999 ms', '59.9 s', '1 min 0 s', '2 min 0 s', '60 min 1 s'],
  ])
})
